// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page that draws a layout: the cells of its storage, each with the index of its element. LayoutMap
// (layout_map.js) evaluates maps; kLayouts (layouts.js) has the maps of notations.
'use strict';

{
  const kMostCells = 1024; // in one picture
  const kMostElements = 20000; // of a tensor whose elements are all visited
  const kMostBoxes = 500; // in the search for the index of one cell of a larger tensor
  const kMostColumns = 32;
  const kColors = 8;
  const kSvg = 'http://www.w3.org/2000/svg';
  const kKnown = kLayouts.flatMap(({layouts}) => layouts);
  const page = Object.fromEntries([...document.querySelectorAll('#try [id]')].map((e) => [e.id, e]));
  const numbers = new Intl.NumberFormat('en');
  let shown; // what the picture shows

  const squeeze = (text) => text.replace(/\s+/g, '');
  const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

  function make(parent, name, attributes = {}, text = undefined) {
    const isSvg = name === 'svg' || parent?.namespaceURI === kSvg;
    const element = isSvg ? document.createElementNS(kSvg, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      element.setAttribute(key, value);
    if (text !== undefined)
      element.textContent = text;
    parent?.append(element);
    return element;
  }

  // Parses the numbers of a shape, an index or an address, with separators of any kind in between.
  function readNumbers(text, what) {
    const words = text.split(/[\s,x()[\]]+/).filter((word) => word);
    for (const word of words)
      if (!/^\d+$/.test(word))
        throw new LayoutMapError(
            `${what} is numbers, as in ${what === 'a shape' ? '1x17x2x3' : '0, 16, 1, 2'}, not '${word}'`);
    return words.map(Number);
  }

  /** Returns the map of a text, which is a map or a notation of the list. */
  function readLayout(text) {
    const word = squeeze(text);
    const known = kKnown.find(({layout, name}) => squeeze(layout) === word || name === word);
    if (known)
      return {known, map: LayoutMap.parse(known.map)};
    if (!word)
      throw new LayoutMapError('type a map, as in (i, j) -> buffer(j, i), or pick a layout');
    if (/^[A-Za-z]\w*$/.test(word) || (word.startsWith('#') && !/^#layout\.(map|padded)</.test(word)))
      throw new LayoutMapError('the list has no such layout; any other one is typed as a map, '
                               + 'which layout-translate --layout-to-map writes');
    return {map: LayoutMap.parse(text)};
  }

  // The dims of storage are drawn along panels, rows and columns. A dim is {label, extent, coordinate, stride}.

  // Splits one dim into rows of `columns` positions; the last row may be shorter.
  const wrap = ({label, extent, coordinate}, columns) => ({
    rows: [{label, extent: Math.ceil(extent / columns), coordinate, stride: columns}],
    columns: [{extent: Math.min(extent, columns), coordinate, stride: 1}],
    whole: extent,
  });

  function arrangeBuffer(axes, columns) {
    let stride = 1;
    const dims = []; // fastest first
    for (const {text, extent} of [...axes].reverse()) {
      dims.push({label: text, extent, coordinate: 0, stride});
      stride *= extent;
    }
    const take = (most) => {
      const taken = dims.splice(0, 1);
      while (dims.length && product([...taken, ...dims.slice(0, 1)].map((dim) => dim.extent)) <= most)
        taken.unshift(dims.shift());
      return taken;
    };
    const isLong = dims.length < 2 || dims[0].extent > kMostColumns;
    const parts = isLong ? wrap(dims.shift() ?? {label: 'offset', extent: 1, coordinate: 0}, columns)
      : {columns: take(columns), rows: take(24)};
    return {panels: dims.reverse(), ...parts};
  }

  function arrange(map, shape, extents, columns) {
    const axes = map.axes(shape);
    if (axes && product(axes.map((axis) => axis.extent)) === extents[0])
      return arrangeBuffer(axes, columns);
    const dims = map.coordinates.map((label, coordinate) =>
      ({label, extent: extents[coordinate], coordinate, stride: 1}));
    const lane = dims.at(-1);
    if (['image2d', 'image2d_array', 'image3d'].includes(map.space) && lane.extent <= kMostColumns) {
      const [x, y, ...rest] = dims.slice(0, -1);
      x.extent = Math.min(x.extent, Math.max(columns, Math.floor(64 / lane.extent)));
      return {panels: rest, rows: [y], columns: [x, lane]};
    }
    return {panels: dims.slice(0, -1), ...wrap(dims.at(-1), columns)};
  }

  function* walk(dims) {
    const at = dims.map(() => 0);
    for (let left = product(dims.map((dim) => dim.extent)); left > 0; --left) {
      yield at;
      for (let d = dims.length - 1; d >= 0 && ++at[d] === dims[d].extent; --d)
        at[d] = 0;
    }
  }

  function addTo(address, dims, at) {
    const sum = [...address];
    dims.forEach((dim, d) => { sum[dim.coordinate] += at[d] * dim.stride; });
    return sum;
  }

  /** Returns the elements by address and the error of the map, or undefined if there are too many elements. */
  function findElements(map, shape, extents) {
    const box = [...shape, ...map.replicas].map((extent) => ({extent}));
    if (product(box.map(({extent}) => extent)) > kMostElements)
      return undefined;
    const elements = new Map(), addressOf = map.addresses(shape);
    let fault = '';
    for (const at of walk(box)) {
      const address = addressOf(at), key = address.join(), index = at.slice(0, map.rank);
      const other = elements.get(key);
      if (other?.join() === index.join()) // replicas that share a point
        continue;
      if (other)
        fault ||= `This is no layout of the shape: (${other}) and (${index}) are both at ${key}.`;
      else if (address.some((x, c) => x < 0 || x >= extents[c]))
        fault ||= `This is no layout of the shape: (${index}) is at ${key}, outside of the storage.`;
      else
        elements.set(key, index);
    }
    return {elements, fault};
  }

  function labelOf(index) {
    const short = index.filter((_, d) => shown.shape[d] !== 1);
    return (short.length ? short : index.slice(-1)).join();
  }

  function drawPanel(parts, address, title, room, cell) {
    const panel = make(page.picture, 'figure');
    if (title)
      make(panel, 'figcaption', {}, title);
    const margin = 10 + 7 * cell.margin, height = 22, steps = [...walk(parts.columns)].length;
    const lanes = parts.columns.length > 1 ? parts.columns.at(-1).extent : 0;
    const gap = (column) => (lanes > 1 ? Math.floor(column / lanes) * 4 : 0);
    const svg = make(panel, 'svg');
    svg.style.width = `${margin + steps * cell.width + gap(steps) + 2}px`;
    let y = 1, left = room;
    for (const row of walk(parts.rows)) {
      if (left <= 0)
        break;
      const start = addTo(address, parts.rows, row);
      make(svg, 'text', {x: margin - 6, y: y + 15, class: 'margin'}, start[parts.rows[0]?.coordinate ?? 0]);
      let column = 0;
      for (const at of walk(parts.columns)) {
        const place = addTo(start, parts.columns, at);
        const isInside = parts.whole === undefined || row[0] * parts.rows[0].stride + at[0] < parts.whole;
        if (left > 0 && isInside) {
          drawCell(svg, place, margin + column * cell.width + gap(column), y, cell.width, height);
          --left;
        }
        ++column;
      }
      y += height;
    }
    svg.style.height = `${y + 2}px`;
    return room - left;
  }

  function drawCell(svg, address, x, y, width, height) {
    const key = address.join();
    const index = shown.elements ? shown.elements.get(key) ?? null
      : shown.map.index(address, shown.shape, kMostBoxes);
    const color = index ? `k${(index[shown.color] ?? 0) % kColors}` : index === null ? 'pad' : 'unknown';
    const cell = make(svg, 'g', {class: `cell ${color}`, 'data-address': key});
    if (index)
      cell.dataset.index = index.join();
    make(cell, 'rect', {x, y, width, height});
    if (index)
      make(cell, 'text', {x: x + width / 2, y: y + 15}, labelOf(index));
    const what = index === null ? `${key} is padding` : `${key}: not known`;
    make(cell, 'title', {}, index ? `(${index}) at ${key}` : what);
  }

  function draw() {
    const {map, shape, extents} = shown;
    page.picture.replaceChildren();
    const longest = labelOf(shape.map((size) => Math.max(size - 1, 0))).length;
    const cell = {width: Math.max(24, 6 + 6.7 * longest), margin: String(Math.max(...extents)).length};
    const fitting = Math.max(4, Math.min(kMostColumns, (page.picture.clientWidth - 50) / cell.width));
    const columns = 2 ** Math.floor(Math.log2(fitting));
    const parts = arrange(map, shape, extents, columns);
    const positions = product(extents);
    let room = positions && (shown.elements ? kMostCells : kMostCells / 4);
    for (const at of walk(parts.panels)) {
      if (room <= 0)
        break;
      const title = parts.panels.flatMap(({label, extent}, d) =>
        (extent > 1 || map.space !== 'buffer' ? [`${label} = ${at[d]}`] : [])).join(', ');
      room -= drawPanel(parts, addTo(extents.map(() => 0), parts.panels, at), title, room, cell);
    }
    const drawn = page.picture.querySelectorAll('.cell').length;
    const say = (dims) => dims.map(({label}) => label).join(', ');
    page.caption.textContent = [
      drawn < positions ? `${numbers.format(drawn)} of ${numbers.format(positions)} positions are drawn; `
        + 'type an index or an address to see any other.' : '',
      parts.whole === undefined ? `Along columns: ${say(parts.columns)}; rows: ${say(parts.rows)}.` : '',
      shown.elements ? '' : 'The elements are too many to check that no two of them share a position.',
    ].filter((text) => text).join(' ');
  }

  function describe() {
    const {map, shape, extents, known, elements} = shown;
    const count = product(shape) * product(map.replicas), positions = product(extents);
    const padding = positions - (elements ? elements.size : count);
    const space = map.coordinates.map((name, c) => `${name} ${numbers.format(extents[c])}`).join(', ');
    page.meaning.replaceChildren();
    if (known)
      make(page.meaning, 'code', {}, known.map);
    const times = map.replicas.length ? `, ${product(map.replicas)} times` : '';
    make(page.meaning, 'span', {}, `${numbers.format(product(shape))} elements${times}`
      + ` + ${numbers.format(padding)} padding = ${numbers.format(positions)} positions (${space})`
      + (map.padding ? `, where padding holds ${map.padding}` : ''));
    if (known?.isOfShape && known.shape !== shape.join('x'))
      make(page.meaning, 'em', {}, `This is the map of ${known.layout} on ${known.shape}; `
        + 'on another shape the notation may mean another one.');
    page['index-label'].textContent = `Index (${map.dims.join(', ')})`;
    page['address-label'].textContent = `Address (${map.coordinates.join(', ')})`;
    page.color.replaceChildren(...map.dims.map((name, d) => make(null, 'option', {value: d}, name)));
    page.color.value = shown.color;
  }

  function mark(address) {
    page.picture.querySelector('.marked')?.classList.remove('marked');
    page.picture.querySelector(`[data-address="${address?.join()}"]`)?.classList.add('marked');
  }

  function say(index, address) {
    const place = shown.map.coordinates.map((name, c) => `${name} ${address[c]}`).join(', ');
    const numbered = () => shown.map.dims.map((name, d) => `${name} ${index[d]}`).join(', ');
    page.answer.textContent = index ? `(${numbered()}) is at ${place}`
      : index === null ? `${place} is padding` : `${place}: which index is there is not known within the bound`;
    mark(address);
  }

  function runQuery(field, what, count, answer) {
    page.answer.textContent = '';
    mark();
    try {
      if (!shown || !field.value.trim())
        return;
      const numbers = readNumbers(field.value, what);
      if (numbers.length !== count)
        throw new LayoutMapError(`${what} has ${count} numbers here`);
      answer(numbers);
    } catch (error) {
      showFault(error, page.answer);
    }
  }

  function askIndex() {
    runQuery(page.index, 'an index', shown?.map.rank, (index) => {
      if (index.some((i, d) => i >= shown.shape[d]))
        throw new LayoutMapError('this index is outside of the shape');
      const address = shown.map.address(index, shown.shape);
      page.address.value = address.join(', ');
      say(index, address);
    });
  }

  function askAddress() {
    runQuery(page.address, 'an address', shown?.extents.length, (address) => {
      if (address.some((x, c) => x >= shown.extents[c]))
        throw new LayoutMapError('this address is outside of the storage');
      const index = shown.map.index(address, shown.shape);
      page.index.value = index ? index.join(', ') : '';
      say(index, address);
    });
  }

  function showCell(event) {
    const cell = event.target.closest('.cell');
    if (!cell)
      return;
    page.address.value = cell.dataset.address.replaceAll(',', ', ');
    page.index.value = (cell.dataset.index ?? '').replaceAll(',', ', ');
    askAddress();
  }

  function showFault(error, where) {
    if (!(error instanceof LayoutMapError))
      throw error;
    where.textContent = (error.column ? `column ${error.column}: ` : '') + error.message;
  }

  function show() {
    shown = undefined;
    for (const name of ['meaning', 'fault', 'answer', 'picture', 'caption'])
      page[name].replaceChildren();
    page.index.value = page.address.value = '';
    try {
      const {map, known} = readLayout(page.layout.value);
      const shape = readNumbers(page.shape.value, 'a shape'), extents = map.extents(shape);
      if (!Number.isSafeInteger(product(extents)) || !Number.isSafeInteger(product(shape) * product(map.replicas)))
        throw new LayoutMapError('this tensor has more than 2^53 positions');
      const found = findElements(map, shape, extents);
      const many = shape.map((size, d) => [size, d]).filter(([size]) => size > 1).map(([, d]) => d);
      const color = map.rank > 2 && shape[1] > 1 ? 1 : many[0] ?? 0;
      shown = {map, known, shape, extents, elements: found?.elements, color};
      page.fault.textContent = found?.fault ?? '';
      describe();
      draw();
      page.known.value = known ? kKnown.indexOf(known) : '';
      history.replaceState(null, '', `#map=${encodeURIComponent(page.layout.value)}&shape=${shape.join('x')}`);
    } catch (error) {
      showFault(error, page.fault);
    }
  }

  function pick() {
    const known = kKnown[page.known.value];
    if (!known)
      return;
    page.layout.value = known.layout;
    page.shape.value = known.shape;
    show();
  }

  /** Shows the layout that the fragment of the URL states. Returns false if it states none. */
  function readFragment() {
    const state = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
    if (!state.has('map'))
      return false;
    page.layout.value = state.get('map');
    page.shape.value = state.get('shape') ?? '';
    show();
    return true;
  }

  make(page.known, 'option', {value: ''}, '');
  for (const {title, layouts} of kLayouts) {
    const group = make(page.known, 'optgroup', {label: title});
    for (const known of layouts)
      make(group, 'option', {value: kKnown.indexOf(known)}, known.layout.replace(/^#layout\./, ''));
  }
  document.querySelector('#try form').addEventListener('submit', (event) => event.preventDefault());
  page.layout.addEventListener('input', show);
  page.shape.addEventListener('input', show);
  page.known.addEventListener('change', pick);
  page.color.addEventListener('change', () => {
    if (!shown)
      return;
    shown.color = Number(page.color.value);
    draw();
  });
  page.index.addEventListener('input', askIndex);
  page.address.addEventListener('input', askAddress);
  page.picture.addEventListener('pointerover', showCell);
  page.picture.addEventListener('pointerdown', showCell);
  window.addEventListener('hashchange', readFragment);
  window.addEventListener('resize', () => shown && draw());
  if (!readFragment()) {
    page.known.value = kKnown.findIndex(({name}) => name === 'NCHW4c');
    pick();
  }
}
