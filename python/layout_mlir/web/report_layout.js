// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialog of report.html for the layout of one tensor: it maps indices to addresses and back, and
// shows windows of the tensor and of its storage.

const kCells = 16; // the maximal number in a row or column of a window
const tuple = (numbers) => `(${numbers.join(', ')})`;
const dialog = find('#layout');
let shownLayout = null; // {map, shape, bits}

const addressText = ({map}, address) => map.coordinates.map((name, c) => `${name} ${address[c]}`).join(', ');
/** Prints an address in the form that the input field accepts. */
const addressNumbers = (address) => address.join(', ');

function byteText({map, bits}, address) {
  return map.space === 'buffer' && bits && bits % 8 === 0 ? `, byte ${count(address[0] * bits / 8)}` : '';
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

/** Returns the number of a color, which elements that are adjacent in storage share. */
function stepOf({map, run}, address) {
  return address.length === 1 ? Math.floor(address[0] / run) % 8 :
                                address.slice(0, -1).reduce((sum, x) => 3 * sum + x, 0) % 8;
}

function range(start, size, extent) {
  const first = Math.max(0, Math.min(start, extent - size));
  return Array.from({length: Math.min(size, extent)}, (_, i) => first + i);
}

/**
 * Returns the dims of the rows and columns of a window, among the dims with several indices. Columns are the last one,
 * rows the last other dim that the layout divides, or else the last but one.
 */
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
    `The elements ${tuple(part)} of ${shape.join(' × ') || 'a scalar'}: cells show their addresses; neighbors in storage share a color.`;
}

/** Returns the rows of a window of the storage around an address, each with its name and the addresses of its cells. */
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
  // The last two of the other coordinates vary.
  const varying = extents.map((_, c) => c).filter((c) => c !== column).slice(-2);
  let rows = [[]];
  for (const [c, extent] of extents.entries()) {
    const values = varying.includes(c) ? range(address[c] - address[c] % 4, 4, extent) : [c === column ? null : address[c]];
    rows = rows.flatMap((row) => values.map((x) => [...row, x]));
  }
  return rows.map((row) => ({
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
    `${count(shown)} of ${plural(positions, 'position')}: cells show the index of the stored element; hatched cells are padding.`;
}

function mark(index, address) {
  for (const element of dialog.querySelectorAll('td')) {
    const isFound = element.dataset.address === addressNumbers(address);
    element.classList.toggle('found', isFound && (!index || element.dataset.index === index.join(', ')));
  }
}

const numbersOf = (text) => (text.match(/-?\d+/g) ?? []).map(Number);

/** Looks up the address of the typed index, and fills the windows around it. */
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
  const isDynamic = sizes.includes(null), shape = sizes.map((size) => size ?? kCells);
  find('#layout h2').textContent = layoutName(layout);
  find('#layout-tensor').textContent = `of ${shortShape(tensor)}${isDynamic ? `, dynamic sizes shown as ${kCells}` : ''}`;
  find('#layout-text').textContent = text;
  for (const id of ['#hover', '#window', '#window-text', '#storage', '#storage-text'])
    find(id).replaceChildren();
  find('#picture').innerHTML = picture ?? ''; // trusted: the library draws it
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
