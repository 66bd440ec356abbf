// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the text of a `#layout.map` (docs/spec.md, section 2) and maps indices to addresses. Layout
// families are not supported: pages use the canonical text that the library prints for them.
//
//   const map = LayoutMap.parse('(n, c) -> buffer(c floordiv 4, n, c mod 4)');
//   map.extents([2, 6])         // [16], the number of positions along each of map.coordinates
//   map.address([1, 5], [2, 6]) // [13]
//   map.index([13], [2, 6])     // [1, 5]; null for padding, undefined if the search gives up
//   map.axes([2, 6])            // dims of linear memory: [{text: 'c floordiv 4', extent: 2}, ..]
//
// Invalid text and numbers above 2^53 throw a LayoutMapError. Injectivity is not checked. The file is
// a classic script, so that pages opened from a disk can include it.
'use strict';

class LayoutMapError extends Error {
  /** @param {number=} column the 1-based column of the error in the text */
  constructor(message, column) {
    super(message);
    this.column = column;
  }
}

const LayoutMap = (() => {
  const kMaxDepth = 64, kMaxRank = 64;
  const kMaxTerms = 4096; // in a product of sizes
  const kMaxBoxes = 200000; // visited by the search for one index
  const kCoordinates = {
    buffer: ['offset'],
    image2d: ['x', 'y', 'lane'],
    image2d_array: ['x', 'y', 'slice', 'lane'],
    image3d: ['x', 'y', 'z', 'lane'],
    npu: ['npu', 'offset'],
  };

  function exact(number) {
    if (!Number.isSafeInteger(number))
      throw new LayoutMapError('a number of this layout is past 2^53');
    return number + 0; // converts -0 to 0
  }
  const floorDiv = (x, k) => Math.floor(x / k) + 0;
  const floorMod = (x, k) => (x % k + k) % k;

  // A size: a polynomial in size(d) and ceil(polynomial, k), stored as a Map from keys to
  // {coefficient, factors}. The key of the constant is ''.
  class Size {
    constructor(terms = []) {
      this.terms = new Map();
      for (const {coefficient, factors} of terms) {
        factors.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
        const key = factors.map((factor) => factor.key).join('*');
        const sum = exact(coefficient + (this.terms.get(key)?.coefficient ?? 0));
        if (sum)
          this.terms.set(key, {coefficient: sum, factors});
        else
          this.terms.delete(key);
      }
    }
    static of(number) { return new Size([{coefficient: number, factors: []}]); }
    static atom(key, evaluate) { return new Size([{coefficient: 1, factors: [{key, evaluate}]}]); }
    static dim(d) { return Size.atom(`size(${d})`, (shape) => shape[d]); }

    plus(other) { return new Size([...this.terms.values(), ...other.terms.values()]); }
    times(other) {
      if (this.terms.size * other.terms.size > kMaxTerms)
        throw new LayoutMapError('a size of this layout has too many terms');
      return new Size([...this.terms.values()].flatMap((a) => [...other.terms.values()].map((b) => ({
        coefficient: exact(a.coefficient * b.coefficient),
        factors: [...a.factors, ...b.factors],
      }))));
    }
    ceilDiv(k) {
      const terms = [...this.terms.values()];
      if (terms.every(({coefficient}) => coefficient % k === 0))
        return new Size(terms.map((t) => ({...t, coefficient: t.coefficient / k})));
      const constant = this.constant();
      if (constant !== undefined)
        return Size.of(-floorDiv(-constant, k));
      const key = terms.map((t) => `${t.coefficient}*${t.factors.map((f) => f.key).join('*')}`);
      return Size.atom(`ceil(${key.sort().join('+')},${k})`,
                       (shape) => -floorDiv(-this.evaluate(shape), k));
    }
    /** Returns the value if it is the same on all shapes, or undefined. */
    constant() {
      if (this.terms.size === 0)
        return 0;
      return this.terms.size === 1 ? this.terms.get('')?.coefficient : undefined;
    }
    reachesUpwards() {
      return [...this.terms.values()].every(({coefficient}) => coefficient >= 0);
    }
    evaluate(shape) {
      let sum = 0;
      for (const {coefficient, factors} of this.terms.values())
        sum = exact(sum + factors.reduce((product, f) => exact(product * f.evaluate(shape)), coefficient));
      return sum + 0;
    }
  }

  // Values. `bind` returns a function from a box, one inclusive range for each dim, to a range that
  // contains all values in the box. If the box has one index, the range has one value.

  const dimOf = (d) => ({bind: () => (box) => box[d]});

  function sumOf(constant, terms) { // terms: {value, stride}
    return {
      bind(shape) {
        const start = constant.evaluate(shape);
        const bound = terms.map(({value, stride}) => [value.bind(shape), stride.evaluate(shape)]);
        return (box) => {
          let low = start, high = start;
          for (const [range, stride] of bound) {
            const [least, most] = range(box);
            low = exact(low + exact((stride < 0 ? most : least) * stride));
            high = exact(high + exact((stride < 0 ? least : most) * stride));
          }
          return [low, high];
        };
      },
    };
  }

  const floorDivOf = (x, k) => ({
    bind(shape) {
      const range = x.bind(shape);
      return (box) => range(box).map((bound) => floorDiv(bound, k));
    },
  });

  const modOf = (x, k) => ({
    bind(shape) {
      const range = x.bind(shape);
      return (box) => {
        const [low, high] = range(box);
        return floorDiv(low, k) === floorDiv(high, k) ? [floorMod(low, k), floorMod(high, k)] : [0, k - 1];
      };
    },
  });

  // The highest bit in which the bounds of an operand differ, and all lower bits, can have any value.
  const xorOf = (operands, k) => ({
    bind(shape) {
      const ranges = operands.map((operand) => modOf(operand, k).bind(shape));
      return (box) => {
        let low = 0n, open = 0n;
        for (const range of ranges) {
          const [least, most] = range(box).map(BigInt);
          low ^= least;
          open |= least ^ most;
        }
        const mask = (1n << BigInt(open.toString(2).length)) - 1n;
        return open ? [Number(low & ~mask), Number(low | mask)] : [Number(low), Number(low)];
      };
    },
  });

  // Values with the number of positions that they reserve: {value, extent}. These are the primitives
  // of docs/spec.md, section 1.

  const one = Size.of(1);
  const constantOf = (size) => ({value: sumOf(size, []), extent: size.plus(one)});

  function group(elements) {
    const terms = [];
    let extent = one;
    for (const element of [...elements].reverse()) {
      terms.push({value: element.value, stride: extent});
      extent = extent.times(element.extent);
    }
    return {value: sumOf(Size.of(0), terms), extent};
  }

  function place(products) { // {sized, stride}
    let extent = one;
    for (const {sized, stride} of products)
      if (stride.reachesUpwards())
        extent = extent.plus(sized.extent.plus(Size.of(-1)).times(stride));
    return {
      value: sumOf(Size.of(0), products.map(({sized, stride}) => ({value: sized.value, stride}))),
      extent,
    };
  }

  class Parser {
    constructor(text) {
      this.text = text;
      this.at = 0;
      this.depth = 0;
      this.dims = []; // names of the logical dims, then of the replicas
      this.replicas = []; // extents of the replicas
      this.skip();
    }

    fail(message, at = this.at) { throw new LayoutMapError(message, at + 1); }

    match(pattern) {
      pattern.lastIndex = this.at;
      const found = pattern.exec(this.text)?.[0];
      if (found !== undefined)
        this.at += found.length;
      return found;
    }
    skip() { this.match(/(?:\s|\/\/[^\n]*)*/y); }
    token(pattern) {
      const found = this.match(pattern);
      if (found !== undefined)
        this.skip();
      return found;
    }
    take(symbol) {
      if (!this.text.startsWith(symbol, this.at))
        return false;
      this.at += symbol.length;
      this.skip();
      return true;
    }
    expect(symbol) {
      if (!this.take(symbol))
        this.fail(`expected '${symbol}'`);
    }
    name() { return this.token(/[A-Za-z_][\w$.]*/y); }
    expectName(what) { return this.name() ?? this.fail(`expected the name of ${what}`); }
    takeWord(word) {
      const start = this.at;
      if (this.name() === word)
        return true;
      this.at = start;
      return false;
    }
    number() {
      const start = this.at;
      const found = this.token(/-?\s*(?:0x[\da-fA-F]+|\d+)/y);
      if (found === undefined)
        return undefined;
      const number = Number(found.replace(/[-\s]/g, '')) * (found.startsWith('-') ? -1 : 1);
      if (!Number.isSafeInteger(number))
        this.fail('this number is past 2^53', start);
      return number + 0;
    }
    expectNumber(least, what) {
      const start = this.at, number = this.number() ?? this.fail('expected an integer');
      if (number < least)
        this.fail(`${what} must be at least ${least}, found ${number}`, start);
      return number;
    }
    list(close, element) {
      const elements = [];
      if (this.take(close))
        return elements;
      do {
        elements.push(element());
      } while (this.take(','));
      this.expect(close);
      return elements;
    }
    nested(parse) {
      if (++this.depth > kMaxDepth)
        this.fail('the layout is nested too deeply');
      const result = parse();
      --this.depth;
      return result;
    }

    newName() {
      const start = this.at, name = this.expectName('a dim');
      if (name === 'true' || name === 'false')
        this.fail(`a dim cannot be named '${name}'`, start);
      if (this.dims.includes(name))
        this.fail(`dim '${name}' is repeated`, start);
      if (this.dims.length === kMaxRank)
        this.fail(`a layout has at most ${kMaxRank} dims`, start);
      this.dims.push(name);
    }
    findDim(name, start) {
      const d = this.dims.indexOf(name);
      return d >= 0 ? d : this.fail(`unknown dim '${name}'; the dims are (${this.dims.join(', ')})`, start);
    }
    sizeOf(d) { return d < this.rank ? Size.dim(d) : Size.of(this.replicas[d - this.rank]); }

    // Parses an integer, or size(d) or ceil(size, k) unless a dim has that name. Otherwise returns undefined.
    sizeFactor() {
      const number = this.number();
      if (number !== undefined)
        return Size.of(number);
      const start = this.at, word = this.name();
      if ((word !== 'size' && word !== 'ceil') || this.dims.includes(word) || !this.take('(')) {
        this.at = start;
        return undefined;
      }
      let size;
      if (word === 'size') {
        const place = this.at;
        size = this.sizeOf(this.findDim(this.expectName('a dim'), place));
      } else {
        const numerator = this.size();
        this.expect(',');
        size = numerator.ceilDiv(this.expectNumber(1, "the divisor of 'ceil'"));
      }
      this.expect(')');
      return size;
    }
    sizeProduct() {
      let product = one;
      do {
        let factor = this.sizeFactor();
        if (!factor) {
          if (!this.take('('))
            this.fail('expected a size: an integer, size(dim) or ceil(size, k)');
          factor = this.size();
          this.expect(')');
        }
        product = product.times(factor);
      } while (this.take('*'));
      return product;
    }
    size() {
      return this.nested(() => {
        let sum = Size.of(0);
        do
          sum = sum.plus(this.sizeProduct());
        while (this.take('+'));
        return sum;
      });
    }

    primary() {
      const start = this.at;
      if (this.take('(')) {
        const sum = this.sum();
        this.expect(')');
        return sum;
      }
      if (this.take('[')) {
        const elements = this.list(']', () => this.sum());
        const fused = elements.length ? group(elements) : this.fail('a group has at least one element', start);
        if (this.takeWord('align')) {
          const k = this.expectNumber(1, 'an alignment');
          fused.extent = fused.extent.ceilDiv(k).times(Size.of(k));
        }
        return fused;
      }
      const word = this.name() ?? this.fail("expected a dim, a group '[..]', '(', 'pad(' or 'xor('");
      if (word === 'xor' && !this.dims.includes(word))
        return this.xor();
      if (word === 'pad' && !this.dims.includes(word)) {
        this.expect('(');
        const padded = this.sum();
        this.expect(',');
        const low = this.expectNumber(0, 'padding');
        this.expect(',');
        const high = this.expectNumber(0, 'padding');
        this.expect(')');
        return {
          value: sumOf(Size.of(low), [{value: padded.value, stride: one}]),
          extent: padded.extent.plus(Size.of(exact(low + high))),
        };
      }
      const d = this.findDim(word, start);
      return {value: dimOf(d), extent: this.sizeOf(d)};
    }
    xor() {
      this.expect('(');
      const operands = [];
      do
        operands.push(this.sum());
      while (this.take(','));
      let extent, start = this.at;
      if (this.take(':')) {
        start = this.at;
        extent = this.number() ?? this.fail('expected an integer');
      } else {
        extent = operands[0].extent.constant();
        if (extent === undefined || operands.some((operand) => operand.extent.constant() !== extent))
          this.fail("the operands of 'xor' have no common constant extent: state it, as in xor(a, b : 4)");
      }
      if (extent < 1 || !Number.isInteger(Math.log2(extent)))
        this.fail(`the extent of 'xor' must be a power of two, found ${extent}`, start);
      this.expect(')');
      return {value: xorOf(operands.map((operand) => operand.value), extent), extent: Size.of(extent)};
    }
    digit() {
      let {value, extent} = this.primary();
      for (;;) {
        if (this.takeWord('floordiv')) {
          const k = this.expectNumber(1, "the divisor of 'floordiv'");
          value = floorDivOf(value, k);
          extent = extent.ceilDiv(k);
        } else if (this.takeWord('mod')) {
          const k = this.expectNumber(1, "the divisor of 'mod'");
          value = modOf(value, k);
          extent = Size.of(k);
        } else {
          return {value, extent};
        }
      }
    }
    product() {
      const constant = this.sizeFactor();
      const sized = constant ? undefined : this.digit();
      const stride = this.take('*') ? this.sizeProduct() : one;
      return constant ? {sized: constantOf(constant.times(stride)), stride: one} : {sized, stride};
    }
    sum() {
      return this.nested(() => {
        const products = [];
        do
          products.push(this.product());
        while (this.take('+'));
        return place(products);
      });
    }
    /** Parses a sum and adds its source text. */
    axis(parse = () => this.sum()) {
      const start = this.at, sized = parse();
      return {...sized, text: this.text.slice(start, this.at).trim()};
    }
    sized() {
      return this.axis(() => {
        const sized = this.sum();
        return this.takeWord('extent') ? {value: sized.value, extent: this.size()} : sized;
      });
    }

    namedCoordinates(space, start) {
      const found = new Map();
      for (const [name, sized] of this.list(')', () => {
        const place = this.at, name = this.expectName('a coordinate');
        if (found.has(name))
          this.fail(`coordinate '${name}' is repeated`, place);
        this.expect('=');
        found.set(name, null);
        return [name, this.sized()];
      }))
        found.set(name, sized);
      const known = Object.hasOwn(kCoordinates, space) ? kCoordinates[space] : [...found.keys()];
      const missing = known.find((name) => !found.has(name));
      if (missing)
        this.fail(`space '${space}' needs the coordinate '${missing}'`, start);
      const extra = [...found.keys()].find((name) => !known.includes(name));
      if (extra)
        this.fail(`space '${space}' has no coordinate '${extra}'; it has ${known.join(', ')}`, start);
      return known.map((name) => ({name, ...found.get(name)}));
    }

    map() {
      this.expect('(');
      this.list(')', () => this.newName());
      this.rank = this.dims.length;
      if (this.takeWord('replicate')) {
        this.expect('(');
        do {
          this.newName();
          this.expect(':');
          this.replicas.push(this.expectNumber(1, 'the extent of a replica'));
        } while (this.take(','));
        this.expect(')');
      }
      this.expect('->');
      const start = this.at, space = this.expectName('a space');
      this.expect('(');
      const inside = this.at;
      const isNamed = this.name() !== undefined && this.take('=');
      this.at = inside;
      let axes, coordinates;
      if (isNamed) {
        coordinates = this.namedCoordinates(space, start);
      } else if (space === 'buffer') { // one dense group
        axes = this.list(')', () => this.axis());
        coordinates = [{name: 'offset', ...group(axes)}];
      } else {
        this.fail(`the coordinates of space '${space}' are named: write name = value`, start);
      }
      if (this.takeWord('stored')) {
        if (space !== 'buffer')
          this.fail("'stored' states the dims of linear memory, of the space 'buffer'");
        this.expect('(');
        axes = this.list(')', () => this.sized());
      }
      if (space === 'buffer')
        axes ??= [{...coordinates[0]}];
      return new LayoutMap(this, space, coordinates, axes);
    }

    /** Parses a map alone, as an attribute, or in a `#layout.padded`. */
    layout() {
      let padding;
      const isPadded = this.take('#layout.padded<');
      const isAttribute = this.take('#layout.map<');
      if (isPadded && !isAttribute)
        this.fail("expected '#layout.map<'");
      if (!isAttribute && this.text.startsWith('#', this.at))
        this.fail("this reads maps, '#layout.map<..>'; the library gives the map of any other layout");
      const map = this.map();
      if (isAttribute)
        this.expect('>');
      if (isPadded) {
        this.expect(',');
        padding = this.match(/[^<>]*(?=>\s*$)/y) ?? this.fail('expected what padding holds');
        this.expect('>');
      }
      if (this.at < this.text.length)
        this.fail('expected the end of the layout');
      map.padding = padding?.trim();
      return map;
    }
  }

  class LayoutMap {
    #coordinates;
    #axes;

    constructor({dims, rank, replicas}, space, coordinates, axes) {
      this.rank = rank;
      this.dims = dims.slice(0, rank); // names of the logical dims
      this.replicas = replicas; // extents of the replicas
      this.space = space;
      this.coordinates = coordinates.map(({name}) => name);
      this.padding = undefined; // the text of the padding value, if it is stated
      this.#coordinates = coordinates;
      this.#axes = axes;
    }

    static parse(text) { return new Parser(text).layout(); }

    #check(shape) {
      if (shape.length !== this.rank)
        throw new LayoutMapError(`this layout is of ${this.rank} dims, the shape has ${shape.length}`);
      for (const size of shape)
        if (!Number.isSafeInteger(size) || size < 0)
          throw new LayoutMapError(`a size is a number from 0 on, not ${size}`);
    }
    #bind(shape) { return this.#coordinates.map(({value}) => value.bind(shape)); }

    /** Returns the number of positions along each coordinate, padding included. */
    extents(shape) {
      this.#check(shape);
      return this.#coordinates.map(({extent}) => Math.max(extent.evaluate(shape), 0));
    }

    /** Returns the dims of the array in linear memory, slowest first, or undefined in other spaces. */
    axes(shape) {
      this.#check(shape);
      return this.#axes?.map(({text, extent}) => ({text, extent: Math.max(extent.evaluate(shape), 0)}));
    }

    /** Returns a function from the indices in a shape to addresses. */
    addresses(shape) {
      this.#check(shape);
      const ranges = this.#bind(shape);
      return (index) => {
        const box = [...index, ...this.replicas.map(() => 0)].slice(0, this.rank + this.replicas.length);
        const point = box.map((i) => [i, i]);
        return ranges.map((range) => range(point)[0]);
      };
    }

    /** Returns the address of an index. Numbers of replicas may follow it; the default is the first replica. */
    address(index, shape) { return this.addresses(shape)(index); }

    /**
     * Returns the index at an address, null for padding or outside of the storage, or undefined if the
     * search visits more than `most` boxes. It bisects boxes of indices and drops those whose range of
     * addresses does not contain the address.
     */
    index(address, shape, most = kMaxBoxes) {
      const extents = this.extents(shape);
      if (shape.includes(0) || address.some((x, c) => x < 0 || x >= extents[c]))
        return null;
      const ranges = this.#bind(shape);
      const open = [[...shape, ...this.replicas].map((size) => [0, size - 1])];
      for (let seen = 0; open.length; ++seen) {
        if (seen === most)
          return undefined;
        const box = open.pop();
        if (!ranges.every((range, c) => {
          const [low, high] = range(box);
          return low <= address[c] && address[c] <= high;
        }))
          continue;
        const d = this.#findWidest(ranges, box);
        if (d === undefined)
          return box.slice(0, this.rank).map(([i]) => i);
        const [low, high] = box[d], middle = floorDiv(low + high, 2);
        open.push(box.with(d, [middle + 1, high]), box.with(d, [low, middle]));
      }
      return null;
    }

    // Returns the dim along which the address varies most, with the first index in the other dims, or undefined if the
    // box has one index.
    #findWidest(ranges, box) {
      let widest, most = -1;
      const first = box.map(([low]) => [low, low]);
      for (const [d, [low, high]] of box.entries()) {
        if (low === high)
          continue;
        const along = first.with(d, [low, high]);
        const width = ranges.reduce((sum, range) => {
          const [least, last] = range(along);
          return sum + (last - least);
        }, 0);
        if (width > most)
          [widest, most] = [d, width];
      }
      return widest;
    }
  }
  return LayoutMap;
})();
