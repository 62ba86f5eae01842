// cuszi.js in Node, against files that the tool restores.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {createServer} from "node:http";
import {join} from "node:path";
import {test} from "node:test";

import {archived, arrayFor, bytes, cuszi, field, open, restored, serve, wasmBytes, write} from "./support.mjs";

const same = (values, wanted) =>
  assert.equal(Buffer.compare(new Uint8Array(values.buffer), wanted), 0, "values differ from the tool's");

test("the decoder has less than 1.5 MB", () => {
  console.log(`cuszi.wasm: ${wasmBytes} bytes`);
  assert.ok(wasmBytes < 1.5e6);
});

for (const preset of ["ratio", "balanced", "fast", "cusz", "cuszi", "zfp"]) {
  for (const [shape, Type] of [[[40, 50, 60], Float32Array], [[90, 110], Float64Array], [[3000], Float32Array],
                               [[2, 9, 33, 40], Float32Array]]) {
    test(`values of ${preset}, ${shape.join("x")} ${Type.name}`, async () => {
      const raw = write("field", shape, field(shape, Type));
      const {archive, restored: wanted} = archived("a.cuszi", raw, "-e", "1e-3", "--preset", preset);
      const opened = await open(archive);
      assert.deepEqual(opened.shape, shape);
      assert.equal(opened.dtype, Type === Float32Array ? "f32" : "f64");
      const {values} = await opened.read();
      assert.ok(values instanceof Type);
      same(values, wanted);
      const original = field(shape, Type);
      assert.ok(values.every((value, i) => Math.abs(value - original[i]) <= opened.bound));
      if (shape.length !== 3) return;
      same((await opened.preview(4)).values, restored("a.cuszi", "--stride", "4"));
      const part = await opened.read({box: [[5, 25], [7, 8], [10, 60]], stride: 1});
      assert.deepEqual(part.shape, [20, 1, 50]);
      same(part.values, restored("a.cuszi", "--box", "5:25,7:8,10:60"));
    });
  }
}

test("missing values, lossless, several frames, a bound by value", async () => {
  const shape = [200, 30, 64];
  const values = field(shape);
  for (let i = 0; i < values.length; i += 7) values[i] = i % 2 ? NaN : 1e20;
  const raw = write("gaps", shape, values);
  for (const options of [["-e", "0"], ["-e", "1e-3", "--fill-value", "1e20", "--frame-size", "512K"],
                         ["-e", "0.01", "--mode", "pwrel"]]) {
    const {archive, restored: wanted} = archived("gaps.cuszi", raw, ...options);
    const opened = await open(archive);
    same((await opened.read()).values, wanted);
    if (options.includes("--frame-size")) {
      assert.ok(opened.report.frames > 1);
      assert.deepEqual(opened.report.fills, [1e20]);
      const box = await opened.read({box: [[60, 140], [0, 30], [0, 64]], stride: 2});
      same(box.values, restored("gaps.cuszi", "--box", "60:140,0:30,0:64", "--stride", "2"));
    }
  }
});

test("the block of the guide", async () => {
  const page = readFileSync(new URL("../../docs/guide/browser.md", import.meta.url), "utf8");
  const [, block] = /^```js\nimport .*\n([^]*?)^```$/m.exec(page);
  const shape = [16, 512, 512];
  const {archive} = archived("guide.cuszi", write("guide", shape, field(shape)), "-e", "1e-3");
  const run = new Function("open", "file", `return (async () => {${block} return {field, all, box, small};})()`);
  const {field: opened, all, box, small} = await run(open, archive);
  assert.deepEqual([opened.shape, all.shape, box.shape, small.shape], [shape, shape, [8, 512, 512], [2, 64, 64]]);
  assert.deepEqual(all.values.subarray(0, box.values.length), box.values);
});

test("members are one field", async () => {
  const raw = write("step", [20, 40, 40], field([20, 40, 40]));
  cuszi("compress", raw, "-e", "1e-3", "-o", "grown.cuszi");
  cuszi("compress", raw, "-e", "1e-2", "--append", "grown.cuszi");
  const opened = await open(bytes("grown.cuszi"));
  assert.deepEqual(opened.shape, [40, 40, 40]);
  assert.equal(opened.report.members, 2);
  same((await opened.read()).values, restored("grown.cuszi"));
});

test("golden archives", async () => {
  const folder = new URL("../../test_data/golden/", import.meta.url).pathname;
  const names = readdirSync(folder).filter((name) => name.endsWith(".cuszi"));
  assert.ok(names.length > 20);
  let packed = 0;
  for (const name of names) {
    const archive = new Uint8Array(readFileSync(join(folder, name)));
    try {
      const opened = await open(archive);
      const {buffer} = Uint8Array.from(restored(join(folder, name)));  // alone in its memory
      same((await opened.read()).values, new Uint8Array(arrayFor(opened.dtype, buffer).buffer));
    } catch (error) {
      if (!/Bitcomp|bitcomp/.test(error.message)) throw new Error(`${name}: ${error.message}`);
      ++packed;
    }
  }
  assert.ok(packed < names.length / 4);
});

test("damaged archives raise an Error, and never other values", async () => {
  const raw = write("small", [24, 24, 24], field([24, 24, 24]));
  const {archive, restored: wanted} = archived("small.cuszi", raw, "-e", "1e-3");
  const values = async (data) => (await (await open(data)).read()).values;
  for (let at = 0; at < archive.length; at += Math.ceil(archive.length / 300)) {
    const flipped = archive.slice();
    flipped[at] ^= 1 << at % 8;
    await assert.rejects(values(flipped), Error, `byte ${at}`);
    await assert.rejects(values(archive.subarray(0, at)), Error, `${at} bytes`);
  }
  await assert.rejects(open(new Uint8Array(0)), Error);
  await assert.rejects(open(new TextEncoder().encode("no archive, though it is long enough")), /archive/);
  same(await values(archive), wanted);
});

test("what is wrong in a call is an Error, and the next call works", async () => {
  const shape = [24, 24, 24];
  const {archive, restored: wanted} = archived("small.cuszi", write("small", shape, field(shape)), "-e", "1e-3");
  const opened = await open(archive);
  await assert.rejects(opened.preview(3), /power of two/);
  await assert.rejects(opened.read({box: [[0, 25], [0, 1], [0, 1]]}), /25/);
  await assert.rejects(opened.read({box: [[0, 1]]}), /3 axes/);
  await assert.rejects(opened.read({stride: NaN}), /stride/);
  const [all, again] = await Promise.all([opened.read(), opened.preview(2)]);
  same(all.values, wanted);
  assert.deepEqual(again.shape, [12, 12, 12]);
});

test("every dtype has an array", () => {
  const of = (dtype, Type, ...values) => Array.from(arrayFor(dtype, Type.from(values).buffer));
  assert.deepEqual(of("f16", Uint16Array, 0x3c00, 0xc500, 1, 0x7bff, 0x8000), [1, -5, 2 ** -24, 65504, -0]);
  assert.deepEqual(of("f16", Uint16Array, 0x7c00, 0xfc00, 0x7e00), [Infinity, -Infinity, NaN]);
  assert.deepEqual(of("bf16", Uint16Array, 0x3f80, 0xc0a0, 0x7f80), [1, -5, Infinity]);
  assert.deepEqual(of("i8", Int8Array, -1, 5), [-1, 5]);
  assert.deepEqual(of("u16", Uint16Array, 65535), [65535]);
  assert.deepEqual(of("i64", BigInt64Array, -(2n ** 60n)), [-(2n ** 60n)]);
  assert.deepEqual(of("f64", Float64Array, 0.1), [0.1]);
  assert.throws(() => arrayFor("c64", new ArrayBuffer(8)), /c64/);
});

test("sizes that a server claims are checked", async () => {
  let range;
  const server = createServer((_, response) => response.writeHead(206, {"Content-Range": range}).end("short"));
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${server.address().port}/a.cuszi`;
  for (const [claim, message] of [["bytes 0-65535/5000000000", /5000000000 bytes, more than/],
                                  ["bytes 0-65535/70000", /5 of 65536 bytes/], ["bytes 0-65535/*", /Content-Range/]]) {
    range = claim;
    await assert.rejects(open(address), message);
  }
  server.close();
});

test("a Blob and a URL are read by ranges", async () => {
  const shape = [512, 64, 64];
  const raw = write("large", shape, field(shape));
  const {archive, restored: wanted} = archived("large.cuszi", raw, "-e", "1e-5", "--frame-size", "1M", "--preset", "fast");
  const box = [[100, 110], [0, 64], [0, 64]];
  const slab = wanted.subarray(100 * 64 * 64 * 4, 110 * 64 * 64 * 4);
  for (const whole of [false, true]) {
    const {server, address} = await serve({whole});
    for (const source of [new Blob([archive]), `${address}large.cuszi`]) {
      const opened = await open(source);
      same((await opened.read({box})).values, slab);
      console.log(`${opened.bytesRead} of ${archive.length} bytes read`);
      if (!whole) assert.ok(opened.bytesRead < 0.4 * archive.length);
      same((await opened.read()).values, wanted);
    }
    await assert.rejects(open(`${address}none.cuszi`), /404/);
    server.close();
  }
});
