// cuszi.js in Node, against files that the tool restores.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";

import {archived, bytes, cuszi, field, open, restored, serve, wasmBytes, write} from "./support.mjs";

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
      same((await (await open(archive)).read()).values, restored(join(folder, name)));
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
