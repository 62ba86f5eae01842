// Opens archives of cuszi in browsers and in Node, by the decoder cuszi.wasm beside this file:
//
//   const field = await open(file);                       // bytes, a Blob or File, or a URL
//   const {shape, values} = await field.read({box: [[0, 1], [0, 512], [0, 512]]});
//   const small = await field.preview(8);                 // every 8th value along spatial axes
//
// Only the ranges of a Blob or a URL that are needed are read. Failures throw an Error.

const block = 1 << 16;  // bytes; what is read of a Blob or URL is cut at multiples

let decoder;

/** The compiled decoder, of which each archive has an instance. */
async function compiled() {
  const url = new URL("cuszi.wasm", import.meta.url);
  const bytes = url.protocol === "file:" ? await (await import("node:fs/promises")).readFile(url)
                                         : await (await checked(fetch(url))).arrayBuffer();
  return WebAssembly.compile(bytes);
}

async function checked(request) {
  const response = await request;
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response;
}

/** The size of a source and how to read its bytes in [first, end). */
async function rangesOf(source) {
  if (source instanceof ArrayBuffer) source = new Uint8Array(source);
  if (ArrayBuffer.isView(source)) {
    const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    return {size: bytes.length, read: async (first, end) => bytes.subarray(first, end)};
  }
  if (source instanceof Blob) {
    const read = async (first, end) => new Uint8Array(await source.slice(first, end).arrayBuffer());
    return {size: source.size, read};
  }
  const get = (first, end) => checked(fetch(source, {headers: {Range: `bytes=${first}-${end - 1}`}}));
  const start = await get(0, block);
  const size = Number(/\/(\d+)$/.exec(start.headers.get("Content-Range") ?? "")?.[1]);
  if (start.status !== 206) return rangesOf(await start.arrayBuffer());  // no ranges: all bytes
  if (!size) throw new Error(`${source}: the server does not expose the header Content-Range`);
  return {size, read: async (first, end) => new Uint8Array(await (await get(first, end)).arrayBuffer())};
}

/** The array of a dtype's values; 16-bit floats, which JavaScript lacks, become Float32Array. */
export function arrayFor(dtype, bytes) {
  const [, kind, bits] = /^(bf|f|i|u)[a-z]*(\d+)$/.exec(dtype) ?? [];
  if (bits === "16" && kind.endsWith("f")) {
    const widened = kind === "bf" ? (half) => new Float32Array(new Uint32Array([half << 16]).buffer)[0] : fromHalf;
    return Float32Array.from(new Uint16Array(bytes), widened);
  }
  const types = {f: {32: Float32Array, 64: Float64Array},
                 i: {8: Int8Array, 16: Int16Array, 32: Int32Array, 64: BigInt64Array},
                 u: {8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array}};
  const type = types[kind]?.[bits];
  if (!type) throw new Error(`values of ${dtype} are unknown to cuszi.js`);
  return new type(bytes);
}

function fromHalf(bits) {
  const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

class Field {
  #ranges;
  #blocks = new Map();  // those that have been read
  #missing = null;      // the range that a call lacked
  #wasm;
  #last = Promise.resolve();
  bytesRead = 0;

  async start(source) {
    this.#ranges = await rangesOf(source);
    decoder ??= compiled();
    this.#wasm = (await WebAssembly.instantiate(await decoder, {
      cuszi: {read: (offset, to, size) => this.#give(offset, to >>> 0, size)},
      env: {emscripten_notify_memory_growth() {}},
      wasi_snapshot_preview1: {
        clock_time_get: () => 0,
        proc_exit() { throw new Error("the decoder stopped"); },
      },
    })).exports;
    this.#wasm._initialize();
    await this.#call("open", this.#ranges.size);
    this.report = JSON.parse(this.#text());
    return this;
  }

  get shape() { return this.report.shape; }
  get dtype() { return this.report.dtype; }
  /** The largest error of a value; null if the bound goes with the values. */
  get bound() { return this.report.bound; }

  /** Values of a box, first index and end of each axis (default: all), at multiples of a stride. */
  read({box = this.shape.map((extent) => [0, extent]), stride = 1} = {}) {
    const part = this.#last.then(() => this.#read(box, stride));  // one at a time
    this.#last = part.catch(() => {});
    return part;
  }

  /** Every `stride`-th value, a power of two, along the axes that archives thin. */
  preview(stride) { return this.read({stride}); }

  async #read(box, stride) {
    const numbers = [...box.flat(), ...Array(8).fill(0)].slice(0, 8);
    if (box.length !== this.shape.length || ![...numbers, stride].every((n) => Number.isSafeInteger(n) && n >= 0)) {
      throw new Error(`box ${JSON.stringify(box)}, stride ${stride}: give [first, end] of ${this.shape.length} axes`);
    }
    await this.#call("select", ...numbers, stride);
    const shape = JSON.parse(this.#text());
    const size = shape.reduce((all, extent) => all * extent, this.report.fieldBytes / this.shape.reduce((a, b) => a * b));
    const bytes = new Uint8Array(size);
    for (let frame = 0, at = 0; frame < this.report.frames; ++frame) {
      await this.#call("restore", frame);
      const values = this.#memory("values");
      bytes.set(values, at);
      at += values.length;
    }
    return {shape, values: arrayFor(this.dtype, bytes.buffer)};
  }

  /** Calls the decoder, and again whenever bytes that it lacked have been read. */
  async #call(name, ...numbers) {
    for (;;) {
      const status = this.#wasm[`cuszi_${name}`](...numbers);
      if (status === 0) return;
      if (status === 2) throw new Error(this.#text());
      await this.#bring(...this.#missing);
    }
  }

  async #bring(first, end) {
    const from = Math.floor(first / block), to = Math.ceil(end / block);
    const wanted = Math.min(to * block, this.#ranges.size) - from * block;
    const bytes = await this.#ranges.read(from * block, from * block + wanted);
    if (bytes.length !== wanted) throw new Error(`${bytes.length} of ${wanted} bytes could be read; was the file changed?`);
    this.bytesRead += bytes.length;
    for (let i = from; i < to; ++i) this.#blocks.set(i, bytes.subarray((i - from) * block, (i + 1 - from) * block));
  }

  /** The decoder's import: copies bytes into its memory, or notes what is missing. */
  #give(offset, to, size) {
    for (let at = offset, end = offset + size; at < end;) {
      const bytes = this.#blocks.get(Math.floor(at / block));
      if (!bytes) {
        this.#missing = [at, end];
        return 0;
      }
      const part = bytes.subarray(at % block, at % block + end - at);
      new Uint8Array(this.#wasm.memory.buffer).set(part, to + at - offset);
      at += part.length;
    }
    return 1;
  }

  /** What the last call left: "text" or "values". */
  #memory(name) {
    const address = this.#wasm[`cuszi_${name}`]() >>> 0;
    return new Uint8Array(this.#wasm.memory.buffer, address, this.#wasm[`cuszi_${name}_size`]() >>> 0);
  }

  #text() {
    return new TextDecoder().decode(this.#memory("text"));
  }
}

/** Opens an archive: bytes, a Blob or File, or a URL. */
export const open = (source) => new Field().start(source);
