// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of `--report`: fills report.html from the data in it. Texts of the model are set as text,
// never as markup. These files become one script: layout_map.js, which maps indices to addresses, this
// file with shared functions and the tables, report_graph.js and report_layout.js.

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

/** Creates a name that wraps after dots, slashes and underscores. Elides the middle of names over 200 characters. */
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

/** Fills a table that is sorted by clicks on its heads. Columns: {title, render(row), key(row), number}. */
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
        // Numbers are descending and texts ascending at the first click; further clicks reverse the order.
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

/** Iterates over all tensors with a layout, as {layout, map, tensor}. */
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

/** The layouts by id, each with its map and its tensors, the largest tensor first. */
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

/** Creates a button with the layout of a tensor, which opens its dialog. */
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
const assignment = data.cost.assignment;

const describeDifference = (most) =>
  (most ? `largest difference ${most.toExponential(1)} of the largest value` : 'no value differs');

function fillSummary() {
  find('#target').textContent = data.target;
  const gap = assignment.cost - assignment.lower_bound;
  const text = find('#certificate');
  if (gap === 0) {
    text.append(make('strong', {}, 'Proven optimal. '),
                `These layouts cost ${count(assignment.cost)}, and no choice among the candidates costs less: the lower bound is the same.`);
  } else {
    text.className = 'unproven';
    text.append(make('strong', {}, `Within ${(100 * gap / assignment.lower_bound).toFixed(2)} % of the best possible. `),
                `These layouts cost ${count(assignment.cost)}. No choice among the candidates costs less than ${count(assignment.lower_bound)}; whether a cheaper choice exists is not proven (gap ${count(gap)}).`);
  }
  text.append(' A cost of 1 is the time in which memory moves one byte.');

  const cards = find('#cards');
  const card = (value, label, isBad) =>
    cards.append(make('div', {className: `card${isBad ? ' bad' : ''}`}, make('b', {}, value), make('span', {}, label)));
  card(ratio(untouched.cost / optimum.cost), 'cheaper than the untouched program, by the model');
  card(bytes(moving.reduce((sum, box) => sum + moved(box), 0)),
       `moved by ${moving.length ? plural(moving.length, 'conversion') : 'conversions'}; ${plural(data.cost.constants.count, 'constant')} packed at compile time`);
  const [before, after] = data.runs;
  if (after && (!after.device || after.device.is_gpu))
    card(ratio(after.speedup), `speed of the run: ${seconds(before.run_median_seconds)} before, ${seconds(after.run_median_seconds)} after`);
  else
    card('Correctness run', after ? `the kernels ran on this CPU; their times do not apply to a GPU` : 'in the simulator, which measures no time');
  const differences = (after?.differences ?? []).map((each) => each.max_rel);
  card(data.agree ? 'Results agree' : 'Results differ',
       differences.length && differences.every((each) => each !== null) ?
         describeDifference(Math.max(...differences)) : 'with and without layouts',
       !data.agree);
}

// -------------------------------------------------------------------------------- tables

function conversionColumns(from, to) {
  return [
    {title: 'of', key: (row) => row.name, render: (row) => make('span', {}, breakable(row.name || '-'), make('small', {}, shortShape(row.shape)))},
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
  find('#conversions-table').hidden = !rows.length;
  fillTable(find('#conversions-table'),
            conversionColumns((row) => chip(row.read), (row) => chip(row.box)), rows,
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
    `${plural(moving.length, 'conversion')} of activations ${moving.length === 1 ? 'moves' : 'move'} bytes whenever the network runs. They are ${(100 * assignment.conversion_cost / Math.max(assignment.cost, 1)).toFixed(1)} % of the modeled cost.` :
    'No conversion moves bytes when the network runs.';
  find('#views-label').hidden = !views.length;
  find('#views-label span').textContent = `show conversions that are free views, too (${count(views.length)})`;
  find('#views').onchange = showConversions;
  showConversions();
  const packed = data.cost.constants.rows;
  find('#constants').hidden = !packed.length;
  find('#constants summary').textContent = `${plural(packed.length, 'constant')} packed at compile time`;
  const text = (side) => (row) => make('code', {}, row[side]);
  fillTable(find('#constants-table'), conversionColumns(text('from'), text('to')),
            [...packed].sort((a, b) => b.bytes_written - a.bytes_written));
}

const kStrategies = {
  'optimum': 'this assignment: minimal modeled cost',
  'as-typed': 'the untouched program: every tensor in the layout of its type',
  'forward': 'each operation follows its first operand (as in TVM)',
  'priority': 'layouts propagate from operations with requirements (as in XLA)',
  'rank': 'operation by operation, fewer conversions (as in ONNX Runtime)',
  'majority': 'each operation follows the majority of its neighbors (as in OpenVINO)',
  'bidirectional': 'follow the first operand, then the consumers',
  'greedy': 'each operation alone, no shared conversions (as in MACE)',
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
    {title: 'relative to optimum', number: true, key: (row) => row.cost, render: (row) => ratio(row.cost / optimum.cost)},
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
    {title: 'in the program', render: (row) => make('code', {}, data.layouts.find(({id}) => id === row.id)?.text ?? 'none')},
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
  if (after && (!after.device || after.device.is_gpu)) {
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

function start() {
  fillSummary();
  setUpTools();
  fillConversions();
  fillStrategies();
  fillLayouts();
  fillRun();
  setUpDialog();
}
