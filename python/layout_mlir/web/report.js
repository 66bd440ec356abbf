// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of `--report`: fills report.html from the data in it. Texts of the model are set as text,
// never as markup. Where elements lie comes from LayoutMap (layout_map.js).
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

// ------------------------------------------------------------------ elements and numbers

const find = (selector) => document.querySelector(selector);

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const count = (number) => number.toLocaleString('en-US');
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;
const ratio = (number) => (number === null || !Number.isFinite(number) ? '-' :
                           `${number.toFixed(number < 10 ? 2 : 0)}×`);

/** A name that may go on in the next line behind a dot or a slash; of a very long one, its ends. */
function breakable(name) {
  if (name.length > 200)
    name = `${name.slice(0, 150)}…${name.slice(-40)}`;
  return make('span', {}, ...name.split(/(?<=[./_])/).flatMap((part) => [part, make('wbr')]));
}

function bytes(number) {
  for (const [unit, size] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]])
    if (number >= size)
      return `${(number / size).toFixed(number >= 100 * size ? 0 : 2)} ${unit}`;
  return `${number} B`;
}

function seconds(number) {
  if (number >= 1)
    return `${number.toFixed(2)} s`;
  return number >= 1e-3 ? `${(number * 1e3).toFixed(number >= 0.01 ? 1 : 2)} ms` : `${(number * 1e6).toFixed(0)} µs`;
}

function list(element, rows) {
  element.replaceChildren(...rows.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {}, text)]));
}

/** A table with heads that sort it. Columns: {title, render(row), key(row), number}. */
function fillTable(table, columns, rows, setUp = () => {}) {
  const body = make('tbody');
  const show = () => body.replaceChildren(...rows.map((row) => {
    const line = make('tr', {}, ...columns.map((column) =>
      make('td', {className: column.number ? 'number' : ''}, column.render(row))));
    setUp(line, row);
    return line;
  }));
  const heads = columns.map((column) => {
    const head = make('th', {className: column.number ? 'number' : ''});
    if (!column.key)
      head.append(column.title);
    else
      head.append(make('button', {type: 'button', onclick: () => {
        // Largest numbers first, texts from A on; then the other way round.
        const first = column.number ? 'descending' : 'ascending';
        const order = head.ariaSort === first ? (column.number ? 'ascending' : 'descending') : first;
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.ariaSort = order;
        const sign = order === 'ascending' ? 1 : -1;
        rows.sort((a, b) => {
          const [x, y] = [column.key(a), column.key(b)];
          return sign * (column.number ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true}));
        });
        show();
      }}, column.title));
    return head;
  });
  table.replaceChildren(make('thead', {}, make('tr', {}, ...heads)), body);
  show();
}

// ------------------------------------------------------------------------------- layouts

const boxes = new Map(data.boxes.map((box) => [box.id, box]));

/** All tensors with a layout, as {layout, map, tensor}. */
function* allTensors() {
  for (const box of data.boxes) {
    yield* [box, box.conversion?.read, ...box.ops].filter((it) => it?.tensor !== undefined);
  }
}

function shapeOf(tensor) {
  const [, sizes, element] = /^((?:(?:\d+|\?)x)*)(.*)$/s.exec(tensor);
  return {sizes: sizes.split('x').slice(0, -1).map((size) => (size === '?' ? null : Number(size))), element};
}
const elementsOf = (tensor) => shapeOf(tensor).sizes.reduce((product, size) => product * (size ?? 1), 1);
const shortShape = (tensor) => tensor.replace(/x(?=\d|\?)/g, '×').replace(/x(?=[^x]*$)/, ' ');

/** By layout: its map's text in short, and what is stored so, the largest tensor first. */
const layouts = new Map();
for (const it of allTensors()) {
  const known = layouts.get(it.layout) ?? {id: it.layout, map: it.map, tensors: new Map()};
  layouts.set(it.layout, known);
  const key = `${it.tensor} ${it.map}`;
  known.tensors.set(key, {layout: it.layout, map: it.map, tensor: it.tensor,
                          uses: (known.tensors.get(key)?.uses ?? 0) + 1});
}
for (const known of layouts.values())
  known.tensors = [...known.tensors.values()].sort((a, b) => elementsOf(b.tensor) - elementsOf(a.tensor));

function layoutName(id) {
  const known = layouts.get(id);
  if (id === 'plain' || !known)
    return 'row-major';
  return data.maps[known.map].text.replace(/^.*?-> /, '').replace(/ floordiv /g, '/').replace(/ mod /g, '%');
}

/** The layout of a tensor, to be clicked for its picture. */
function chip(it) {
  return make('button', {type: 'button', className: `chip ${it.layout}`, onclick: (event) => {
    event.stopPropagation();
    openLayout(it);
  }}, layoutName(it.layout));
}

document.head.append(make('style', {}, data.layouts.map(({id, hue}) => `.${id} { --hue: ${hue * 0.36}deg }`).join('\n')));

// ------------------------------------------------------------------------------- summary

const moving = data.boxes.filter((box) => box.conversion && box.conversion.kind !== 'view');
const views = data.boxes.filter((box) => box.conversion?.kind === 'view');
const moved = (box) => box.conversion.bytes_read + box.conversion.bytes_written;
const strategies = data.strategies.strategies;
const optimum = strategies[0], untouched = strategies[1];
const figures = data.cost.assignment;

const describeDifference = (most) =>
  (most ? `largest difference ${most.toExponential(1)} of the largest value` : 'no value differs');

function fillSummary() {
  find('#target').textContent = data.target;
  const gap = figures.cost - figures.lower_bound;
  const text = find('#certificate');
  if (gap === 0) {
    text.append(make('strong', {}, 'Proven optimal. '),
                `These layouts cost ${count(figures.cost)}, and no choice among the candidates costs less: the lower bound is the same.`);
  } else {
    text.className = 'open';
    text.append(make('strong', {}, `Within ${(100 * gap / figures.lower_bound).toFixed(2)} % of the best possible. `),
                `These layouts cost ${count(figures.cost)}. No choice among the candidates costs less than ${count(figures.lower_bound)}; whether one lies between the two is not proven (gap ${count(gap)}).`);
  }
  text.append(' A cost of 1 is the time in which memory moves a byte.');

  const cards = find('#cards');
  const card = (value, label, isBad) =>
    cards.append(make('div', {className: `card${isBad ? ' bad' : ''}`}, make('b', {}, value), make('span', {}, label)));
  card(ratio(untouched.cost / optimum.cost), 'cheaper than the untouched program, by the model');
  card(bytes(moving.reduce((sum, box) => sum + moved(box), 0)),
       `${moving.length ? `moved by ${plural(moving.length, 'conversion')}` : 'moved: there is no conversion'}; ${plural(data.cost.constants.count, 'constant')} packed at compile time`);
  const [before, after] = data.runs;
  if (after && (!after.opencl_device || after.opencl_device.is_gpu))
    card(ratio(after.speedup), `speed of the run: ${seconds(before.run_median_seconds)} before, ${seconds(after.run_median_seconds)} after`);
  else
    card('Correctness run', after ? `the kernels ran on this CPU, their times say nothing of a GPU` : 'in the simulator, which counts and does not time');
  const differences = (after?.differences ?? []).map((each) => each.max_rel);
  card(data.agree ? 'Results agree' : 'Results differ',
       differences.length && differences.every((each) => each !== null) ?
         describeDifference(Math.max(...differences)) : 'with and without layouts',
       !data.agree);
}

// --------------------------------------------------------------------------------- graph

/** The picture with a view that moves: {x, y, w} in its coordinates. */
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
  /** Keeps the point at these fractions of the room where it is. */
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
    // A page that is scrolled past the graph goes on.
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
  // Letters of a readable size, from the beginning on.
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

// -------------------------------------------------------------------------------- tables

function conversionColumns(name, from, to) {
  return [
    {title: 'of', key: name, render: (row) => make('span', {}, breakable(name(row) || '-'), make('small', {}, shortShape(row.shape)))},
    {title: 'from', render: from},
    {title: 'to', render: to},
    {title: 'why', key: (row) => row.why, render: (row) => row.why},
    {title: 'read', number: true, key: (row) => row.bytes_read, render: (row) => bytes(row.bytes_read)},
    {title: 'written', number: true, key: (row) => row.bytes_written, render: (row) => bytes(row.bytes_written)},
    {title: 'cost', number: true, key: (row) => row.cost, render: (row) => count(row.cost)},
  ];
}

function showConversions() {
  const shown = find('#views').checked ? [...moving, ...views] : moving;
  const rows = shown.map((box) => ({...box.conversion, box, name: box.ops[0].name})).sort((a, b) => b.cost - a.cost);
  fillTable(find('#conversions-table'),
            conversionColumns((row) => row.name, (row) => chip(row.read), (row) => chip(row.box)), rows,
            (line, row) => {
              line.dataset.box = row.box.id;
              line.onclick = () => {
                graph.select(row.box.id);
                find('#network').scrollIntoView();
              };
            });
}

function fillConversions() {
  find('#conversions-text').textContent = moving.length ?
    `${plural(moving.length, 'conversion')} of activations ${moving.length === 1 ? 'moves' : 'move'} bytes whenever the network runs. They are ${(100 * figures.conversion_cost / Math.max(figures.cost, 1)).toFixed(1)} % of the modeled cost.` :
    'No conversion moves bytes when the network runs.';
  find('#views-label').hidden = !views.length;
  find('#views-label span').textContent = `show ${plural(views.length, 'conversion')} that are free views`;
  find('#views').onchange = showConversions;
  find('#conversions-table').hidden = !moving.length && !views.length;
  showConversions();
  const packed = data.cost.constants.rows;
  find('#constants').hidden = !packed.length;
  find('#constants summary').textContent = `${plural(packed.length, 'constant')} packed at compile time`;
  const known = (row) => (/:\d+:\d+$|^unknown$/.test(row.location) ? '' : row.location);
  const text = (side) => (row) => make('code', {}, row[side]);
  fillTable(find('#constants-table'), conversionColumns(known, text('from'), text('to')),
            [...packed].sort((a, b) => b.bytes_written - a.bytes_written));
}

const kStrategies = {
  'optimum': 'this assignment: the least modeled cost',
  'as-typed': 'the untouched program: every tensor as it is written',
  'forward': 'each operation follows its first operand (as in TVM)',
  'priority': 'layouts spread from operations with needs (as in XLA)',
  'rank': 'operation by operation, fewer conversions (as in ONNX Runtime)',
  'majority': 'each operation follows most of its neighbors (as in OpenVINO)',
  'bidirectional': 'follow the first operand, then the consumers',
  'greedy': 'each operation for itself, nothing shared (as in MACE)',
};

function fillStrategies() {
  const most = Math.max(...strategies.map((each) => each.cost), 1);
  fillTable(find('#strategies-table'), [
    {title: 'strategy', key: (row) => row.name,
     render: (row) => make('span', {}, row.name, make('small', {}, kStrategies[row.name]))},
    {title: '', render: (row) => {
      const bar = make('span', {className: 'bar'});
      bar.style.width = `${14 * row.cost / most}rem`;
      return bar;
    }},
    {title: 'modeled cost', number: true, key: (row) => row.cost, render: (row) => count(row.cost)},
    {title: 'beside the optimum', number: true, key: (row) => row.cost, render: (row) => ratio(row.cost / optimum.cost)},
    {title: 'conversions', number: true, key: (row) => row.conversions, render: (row) => count(row.conversions)},
    {title: 'bytes moved', number: true, key: (row) => row.bytes_moved, render: (row) => bytes(row.bytes_moved)},
  ], [...strategies].sort((a, b) => a.cost - b.cost), (line, row) => {
    if (row.name === 'optimum')
      line.className = 'best';
  });
}

function fillLayouts() {
  fillTable(find('#layouts-table'), [
    {title: 'layout', key: (row) => layoutName(row.id), render: (row) => chip(row.tensors[0])},
    {title: 'as in the program', render: (row) => make('code', {}, data.layouts.find(({id}) => id === row.id)?.text ?? 'none')},
    {title: 'largest tensor', number: true, key: (row) => elementsOf(row.tensors[0].tensor),
     render: (row) => shortShape(row.tensors[0].tensor)},
    {title: 'shapes', number: true, key: (row) => row.tensors.length, render: (row) => count(row.tensors.length)},
  ], [...layouts.values()], (line, row) => {
    line.dataset.layout = row.id;
    line.onclick = () => openLayout(row.tensors[0]);
  });
}

function fillRun() {
  const [before, after] = data.runs, [name, time] = data.reference;
  if (after && (!after.opencl_device || after.opencl_device.is_gpu)) {
    const times = [['before', before.run_median_seconds], ['after', after.run_median_seconds]];
    if (time)
      times.push([name, time]);
    const most = Math.max(...times.map((each) => each[1]));
    find('#times').append(...times.map(([label, taken]) => {
      const bar = make('span', {className: 'bar'});
      bar.style.width = `${100 * taken / most}%`;
      return make('div', {className: label === 'after' ? 'best' : ''}, make('span', {}, label), bar, make('span', {}, seconds(taken)));
    }));
  }
  list(find('#rows'), data.rows);
  list(find('#machine'), data.machine);
}

// ------------------------------------------------------------------- a layout of a tensor

const kCells = 16; // at most in a row or column of a window
const tuple = (numbers) => `(${numbers.join(', ')})`;
const dialog = find('#layout');
let shownLayout = null; // {map, shape, bits}

const addressText = ({map}, address) => map.coordinates.map((name, c) => `${name} ${address[c]}`).join(', ');
/** What a reader types for an address, too. */
const addressNumbers = (address) => address.join(', ');

function byteText({map, bits}, address) {
  return map.space === 'buffer' && bits % 8 === 0 ? `, byte ${count(address[0] * bits / 8)}` : '';
}

function cell(text, note, step, address, index) {
  const element = make('td', {className: index ? '' : 'pad'}, text);
  element.style.setProperty('--step', step);
  element.dataset.note = note;
  element.dataset.address = addressNumbers(address);
  if (index)
    element.dataset.index = index.join(', ');
  return element;
}

/** Elements that lie side by side share a color. */
function stepOf({map, run}, address) {
  return address.length === 1 ? Math.floor(address[0] / run) % 8 :
                                address.slice(0, -1).reduce((sum, x) => 3 * sum + x, 0) % 8;
}

function range(start, size, extent) {
  const first = Math.max(0, Math.min(start, extent - size));
  return Array.from({length: Math.min(size, extent)}, (_, i) => first + i);
}

/** Rows along the dim that the layout cuts, or the last but one; columns along the last. */
function windowDims({map, shape, text}) {
  const long = shape.map((_, d) => d).filter((d) => shape[d] > 1);
  const column = long.at(-1);
  const isCut = (d) => new RegExp(`\\b${map.dims[d]} (floordiv|mod)`).test(text);
  const others = long.filter((d) => d !== column);
  return [others.findLast(isCut) ?? others.at(-1), column];
}

function fillWindow(it, index) {
  const {map, shape} = it, [row, column] = windowDims(it);
  const along = (d) => (d === undefined ? [0] : range(index[d] - index[d] % kCells, kCells, shape[d]));
  const columns = along(column), rows = along(row), addresses = map.addresses(shape);
  const name = (d, i) => (d === undefined ? '' : `${map.dims[d]} = ${i}`);
  find('#window').replaceChildren(
    make('tr', {}, make('th'), ...columns.map((i) => make('th', {}, name(column, i)))),
    ...rows.map((i) => make('tr', {}, make('th', {}, name(row, i)), ...columns.map((j) => {
      const at = [...index];
      if (row !== undefined)
        at[row] = i;
      if (column !== undefined)
        at[column] = j;
      const address = addresses(at);
      return cell(addressNumbers(address), `${tuple(at)} at ${addressText(it, address)}`, stepOf(it, address), address, at);
    }))));
  const part = index.map((x, d) => {
    const shown = d === row ? rows : d === column ? columns : [x];
    return shown.length > 1 ? `${shown[0]}..${shown.at(-1)}` : shown[0];
  });
  find('#window-text').textContent =
    `The elements ${tuple(part)} of ${shape.join(' × ') || 'a scalar'}: cells hold the address of each, neighbors in storage share a color.`;
}

/** Addresses as rows of a window on storage, with what the rows are called. */
function storageRows({map, shape, run}, address) {
  const extents = map.extents(shape);
  if (extents.length === 1) {
    const width = run >= 4 && run <= 32 ? run : kCells;
    const first = address[0] - address[0] % width;
    return range(first, kCells * width, extents[0]).filter((x) => x % width === 0).map((x) => ({
      name: `${map.coordinates[0]} ${x}`,
      cells: range(0, width, extents[0] - x).map((i) => [x + i]),
    }));
  }
  const column = map.space.startsWith('image') ? 0 : extents.length - 1;
  const from = address[column] - address[column] % kCells;
  let rows = [[]];
  for (const [c, extent] of extents.entries())
    rows = rows.flatMap((row) => (c === column ? [[...row, null]] :
      range(extent > kCells ? address[c] : 0, extent > 4 ? 4 : extent, extent).map((x) => [...row, x])));
  return rows.slice(0, 2 * kCells).map((row) => ({
    name: row.map((x, c) => (x === null ? '' : `${map.coordinates[c]} ${x} `)).join(''),
    cells: range(from, kCells, extents[column]).map((x) => row.with(column, x)),
  }));
}

function fillStorage(it, address) {
  const {map, shape} = it, rows = storageRows(it, address);
  find('#storage').replaceChildren(...rows.map(({name, cells}) => make('tr', {}, make('th', {}, name), ...cells.map((at) => {
    const index = map.index(at, shape);
    const text = index ? index.join(',') : index === null ? 'pad' : '?';
    return cell(text, `${index ? tuple(index) : index === null ? 'padding' : 'an index that takes too long to find'} at ${addressText(it, at)}`,
                stepOf(it, at), at, index);
  }))));
  const positions = map.extents(shape).reduce((product, extent) => product * extent, 1);
  const shown = rows.reduce((sum, {cells}) => sum + cells.length, 0);
  find('#storage-text').textContent =
    `${count(shown)} of ${plural(positions, 'position')}: cells hold the index of the element that lies there; hatched is padding.`;
}

function mark(index, address) {
  for (const element of dialog.querySelectorAll('td')) {
    const isFound = element.dataset.address === addressNumbers(address);
    element.classList.toggle('found', isFound && (!index || element.dataset.index === index.join(', ')));
  }
}

const numbersOf = (text) => (text.match(/-?\d+/g) ?? []).map(Number);

/** What is at an index; fills the windows around it. */
function lookUpIndex() {
  const it = shownLayout, index = numbersOf(find('#index').value), result = find('#index-result');
  if (index.length !== it.shape.length || index.some((x, d) => x < 0 || x >= it.shape[d])) {
    result.textContent = `an index is ${plural(it.shape.length, 'number')} below ${tuple(it.shape)}`;
    return;
  }
  const address = it.map.address(index, it.shape);
  result.textContent = `${addressText(it, address)}${byteText(it, address)}`;
  find('#address').value = addressNumbers(address);
  find('#address-result').textContent = tuple(index);
  fillWindow(it, index);
  fillStorage(it, address);
  mark(index, address);
}

function lookUpAddress() {
  const it = shownLayout, address = numbersOf(find('#address').value), result = find('#address-result');
  const extents = it.map.extents(it.shape);
  if (address.length !== extents.length || address.some((x, c) => x < 0 || x >= extents[c])) {
    result.textContent = `an address is ${it.map.coordinates.map((name, c) => `${name} below ${count(extents[c])}`).join(', ')}`;
    return;
  }
  const index = it.map.index(address, it.shape);
  if (index) {
    find('#index').value = index.join(', ');
    lookUpIndex();
  }
  result.textContent = index ? tuple(index) : index === null ? 'padding: no element lies there' : 'not found in reasonable time';
  fillStorage(it, address);
  mark(index, address);
}

function openLayout({layout, map, tensor}) {
  const {text, picture} = data.maps[map], {sizes, element} = shapeOf(tensor);
  const open = sizes.includes(null), shape = sizes.map((size) => size ?? kCells);
  find('#layout h2').textContent = layoutName(layout);
  find('#layout-tensor').textContent = `of ${shortShape(tensor)}${open ? `, unknown sizes taken as ${kCells}` : ''}`;
  find('#layout-text').textContent = text;
  find('#picture').innerHTML = picture ?? ''; // made by the library
  find('#sketch').hidden = !picture;
  try {
    const parsed = LayoutMap.parse(text);
    const bits = Number(/\d+$/.exec(element)?.[0] ?? 0);
    const extents = parsed.extents(shape), axes = parsed.axes(shape);
    const positions = extents.reduce((product, extent) => product * extent, 1);
    const elements = shape.reduce((product, size) => product * size, 1);
    shownLayout = {map: parsed, shape, bits, text, run: axes?.findLast((axis) => axis.extent > 1)?.extent ?? kCells};
    list(find('#layout-facts'), [
      ['storage', `${parsed.space}: ${parsed.coordinates.map((name, c) => `${name} ${count(extents[c])}`).join(', ')}`],
      ...(axes ? [['stored as', axes.map((axis) => axis.extent).join(' × ') || '1']] : []),
      ['padding', elements <= positions ? `${count(positions - elements)} of ${plural(positions, 'position')}` : 'none'],
    ]);
    find('#index').value = shape.map(() => 0).join(', ');
    lookUpIndex();
  } catch (error) {
    if (!(error instanceof LayoutMapError))
      throw error;
    shownLayout = null;
    list(find('#layout-facts'), [['look-up', error.message]]);
  }
  for (const id of ['#forward', '#backward', '#window', '#storage'])
    find(id).hidden = !shownLayout;
  find('#hover').textContent = '';
  if (!dialog.open)
    dialog.showModal();
  dialog.scrollTop = 0;
}

function setUpDialog() {
  find('#close').onclick = () => dialog.close();
  for (const form of dialog.querySelectorAll('form'))
    form.onsubmit = (event) => event.preventDefault();
  find('#index').oninput = lookUpIndex;
  find('#address').oninput = lookUpAddress;
  dialog.addEventListener('click', (event) => {
    const found = event.target.closest('td');
    if (event.target === dialog) {
      dialog.close();
    } else if (found?.dataset.address) {
      find('#address').value = found.dataset.address;
      lookUpAddress();
    }
  });
  dialog.addEventListener('mouseover', (event) => {
    const note = event.target.dataset?.note ?? event.target.closest('rect')?.querySelector('title')?.textContent;
    if (note)
      find('#hover').textContent = note;
  });
}

fillSummary();
setUpTools();
fillConversions();
fillStrategies();
fillLayouts();
fillRun();
setUpDialog();
