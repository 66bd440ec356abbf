// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Browsers start no worker on a page that was opened from a disk. There the search of this site runs in
// a hidden frame, which looks like a worker to both sides.
'use strict';

if (location.protocol === 'file:')
  window.Worker = class extends EventTarget {
    #inside;

    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow, script = frame.contentDocument.createElement('script');
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', {data}));
      this.#inside = new Promise((resolve) => {
        script.onload = () => resolve(inside);
      });
      script.src = url;
      frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      this.#inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent('message', {data})));
    }
  };
