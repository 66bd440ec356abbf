// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of report.html, which can be panned and zoomed, and the details of the selected box.

/** The picture with a movable view: {x, y, w} in the coordinates of the picture. */
const graph = (() => {
  const room = find('#graph'), svg = find('#graph svg');
  if (!svg) {
    room.textContent = data.problem;
    return {select: showDetails, whole() {}, zoom() {}};
  }
  const whole = svg.querySelector('.graph');
  svg.querySelectorAll('#legend_frame, #plain, [id^="layout"].node, .graph > polygon, title').forEach((element) => element.remove());
  const box = whole.getBBox(), {e, f} = whole.transform.baseVal.consolidate().matrix;
  const bounds = {x: box.x + e - 20, y: box.y + f - 20, w: box.width + 40, h: box.height + 40};
  const view = {x: 0, y: 0, w: 1};
  const aspect = () => room.clientHeight / room.clientWidth;
  const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
  svg.removeAttribute('width');
  svg.removeAttribute('height');

  function show() {
    const h = view.w * aspect();
    view.x = view.w > bounds.w ? bounds.x + (bounds.w - view.w) / 2 : clamp(view.x, bounds.x, bounds.x + bounds.w - view.w);
    view.y = h > bounds.h ? bounds.y + (bounds.h - h) / 2 : clamp(view.y, bounds.y, bounds.y + bounds.h - h);
    svg.setAttribute('viewBox', `${view.x} ${view.y} ${view.w} ${h}`);
  }
  const fit = () => Math.max(bounds.w, bounds.h / aspect());
  /** Zooms around the point at the fractions `u` and `v` of the panel. */
  function zoom(factor, u = 0.5, v = 0.5) {
    const w = clamp(view.w * factor, 120, Math.max(fit(), room.clientWidth));
    view.x += (view.w - w) * u;
    view.y += (view.w - w) * aspect() * v;
    view.w = w;
    show();
  }
  function centerOn(node) {
    const place = node.getBBox();
    view.w = Math.min(view.w, room.clientWidth / 0.9);
    view.x = place.x + e + place.width / 2 - view.w / 2;
    view.y = place.y + f + place.height / 2 - view.w * aspect() / 2;
    show();
  }
  const nodeOf = (id) => svg.querySelector(`#${CSS.escape(id)}`);
  function select(id, moves = true) {
    svg.querySelector('.selected')?.classList.remove('selected');
    const node = nodeOf(id);
    node?.classList.add('selected');
    if (node && moves)
      centerOn(node);
    showDetails(id);
  }

  let drag = null;
  room.addEventListener('pointerdown', (event) => {
    drag = {x: event.clientX, y: event.clientY, moved: false, node: event.target.closest('.node')};
    room.setPointerCapture(event.pointerId);
  });
  room.addEventListener('pointermove', (event) => {
    if (!drag)
      return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4)
      return;
    Object.assign(drag, {x: event.clientX, y: event.clientY, moved: true});
    const scale = view.w / room.clientWidth;
    view.x -= dx * scale;
    view.y -= dy * scale;
    show();
  });
  room.addEventListener('pointerup', () => {
    if (drag && !drag.moved && drag.node)
      select(drag.node.id, false);
    drag = null;
  });
  room.addEventListener('wheel', (event) => {
    // Scrolling the page is not interrupted when the pointer reaches the graph.
    if (!event.ctrlKey && document.activeElement !== room)
      return;
    event.preventDefault();
    if (event.ctrlKey) {
      const place = room.getBoundingClientRect();
      zoom(Math.exp(event.deltaY / 300), (event.clientX - place.x) / place.width, (event.clientY - place.y) / place.height);
    } else {
      view.x += event.deltaX * view.w / room.clientWidth;
      view.y += event.deltaY * view.w / room.clientWidth;
      show();
    }
  }, {passive: false});
  room.addEventListener('keydown', (event) => {
    const step = view.w / 8;
    const go = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]}[event.key];
    if (go) {
      view.x += go[0];
      view.y += go[1];
      show();
    } else if (event.key === '+' || event.key === '-') {
      zoom(event.key === '+' ? 0.8 : 1.25);
    } else {
      return;
    }
    event.preventDefault();
  });
  new ResizeObserver(show).observe(room);
  // The initial view shows the start of the graph with letters of a readable size.
  view.w = Math.min(fit(), room.clientWidth / 1.1);
  view.x = bounds.x + (bounds.w - view.w) / 2;
  view.y = bounds.y;
  show();
  return {select, zoom, whole() { view.w = fit(); show(); }};
})();

function opsOf(box) {
  return make('ol', {}, ...box.ops.map((op) => make('li', {},
    make('b', {}, breakable(op.name || op.op)), make('br'),
    make('span', {}, [op.name ? op.op : null, op.tensor && shortShape(op.tensor)].filter(Boolean).join(', ')), ' ',
    op.layout && op.layout !== box.layout ? chip(op) : null)));
}

function showDetails(id) {
  const box = boxes.get(id), details = find('#details');
  const rows = [];
  const names = box.ops.map((op) => op.name).filter(Boolean);
  let title;
  if (box.argument !== undefined) {
    title = `Argument ${box.argument}`;
  } else if (box.conversion) {
    const it = box.conversion;
    title = it.kind === 'view' ? 'Conversion that is a view' : 'Conversion';
    rows.push(['of', breakable(names[0] ?? shortShape(it.shape))], ['from', chip(it.read)], ['to', chip(box)],
              ['why', it.why], ['bytes read', count(it.bytes_read)], ['bytes written', count(it.bytes_written)],
              ['cost', count(it.cost)]);
    if (it.kind !== 'view')
      rows.push(['how', it.plan]);
  } else {
    title = names.length > 1 && names[0] !== names.at(-1) ? `${names[0]} .. ${names.at(-1)}` : names[0] ?? box.ops[0].op;
    rows.push(['operations', count(box.ops.length)]);
  }
  if (box.tensor && !box.conversion)
    rows.push(['layout', chip(box)]);
  if (box.tensor)
    rows.push(['tensor', shortShape(box.tensor)]);
  if (box.reads.length)
    rows.push(['reads', make('span', {}, ...box.reads.map((from) => make('button', {
      type: 'button', className: 'link', onclick: () => graph.select(from)}, breakable(nameOf(boxes.get(from))))))]);
  const facts = make('dl');
  list(facts, rows);
  details.replaceChildren(make('h3', {}, breakable(title)), facts, box.conversion || box.argument !== undefined ? '' : opsOf(box));
  details.scrollTop = 0;
}

function nameOf(box) {
  if (box.argument !== undefined)
    return `argument ${box.argument}`;
  return box.ops.findLast((op) => op.name)?.name ?? box.ops.at(-1).op;
}

function setUpTools() {
  find('#legend').append(...[...layouts.values()].map((known) => chip(known.tensors[0])),
                         ...(moving.length ? [make('span', {className: 'chip moves'}, 'conversion')] : []));
  find('#zoom-in').onclick = () => graph.zoom(0.8);
  find('#zoom-out').onclick = () => graph.zoom(1.25);
  find('#fit').onclick = () => graph.whole();
  const next = find('#next');
  next.disabled = !moving.length;
  let shown = -1;
  next.onclick = () => graph.select(moving[shown = (shown + 1) % moving.length].id);
  let last = '', found = -1;
  find('#search').addEventListener('keydown', (event) => {
    const text = event.target.value.trim().toLowerCase();
    if (event.key !== 'Enter' || !text)
      return;
    const all = data.boxes.filter((box) => box.ops.some((op) => `${op.name} ${op.op}`.toLowerCase().includes(text)));
    found = text === last ? found + 1 : 0;
    last = text;
    if (all.length)
      graph.select(all[found % all.length].id);
    else
      find('#details').replaceChildren(make('p', {className: 'quiet'}, `No operation is called “${text}”.`));
  });
}
