// The page in headless Chromium, driven through a pipe by its protocol for debuggers.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";

import {archived, field, folder, serve, write} from "./support.mjs";

const home = mkdtempSync(join(tmpdir(), "cuszi-chromium-"));
const waiting = new Map();
let chromium, site, session, calls = 0;

/** A call of the protocol; throws its error. */
function call(method, params = {}, sessionId = session) {
  chromium.stdio[3].write(`${JSON.stringify({id: ++calls, method, params, sessionId})}\0`);
  return new Promise((done, fail) => waiting.set(calls, ({result, error}) => error ? fail(new Error(error.message)) : done(result)));
}

async function evaluate(expression) {
  const {result, exceptionDetails} = await call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  return result.value;
}

async function until(expression) {
  for (const start = Date.now(); Date.now() - start < 60_000;) {
    const value = await evaluate(expression);
    if (value) return value;
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.fail(`${expression} stays false; the page says: ${await evaluate("document.body.innerText")}`);
}

/** A fresh page on which an archive is dropped. */
async function drop(name) {
  await call("Page.navigate", {url: site.address});
  await until("document.readyState === 'complete' && document.ondrop && true");
  const data = {items: [], files: [join(folder, name)], dragOperationsMask: 1};
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await call("Input.dispatchDragEvent", {type, x: 100, y: 150, data});
  }
}

const pixels = `(() => {
  const canvas = document.querySelector("#picture");
  const {data, width, height} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return {data: Array.from(data), width, height};
})()`;

before(async () => {
  site = await serve();
  chromium = spawn("chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", `--user-data-dir=${home}`, "about:blank"],
                   {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
  let text = "";
  chromium.stdio[4].setEncoding("utf8").on("data", (more) => {
    const messages = (text + more).split("\0");
    text = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) waiting.get(message.id)?.(message);
  });
  const {targetId} = await call("Target.createTarget", {url: "about:blank"});
  session = (await call("Target.attachToTarget", {targetId, flatten: true})).sessionId;
});

after(async () => {
  const closed = new Promise((done) => chromium.on("exit", done));
  await call("Browser.close", {}, undefined).catch(() => {});
  await closed;
  site.server.close();
  rmSync(home, {recursive: true, force: true});
});

test("slices are drawn, moved through and told of", async () => {
  const shape = [24, 40, 50], values = field(shape);
  values[12 * 2000 + 7] = NaN;
  const {restored} = archived("page.cuszi", write("page", shape, values), "-e", "1e-3");
  const wanted = new Float32Array(restored.buffer, restored.byteOffset, restored.length / 4);
  const finite = wanted.filter(Number.isFinite);
  const [min, max] = [Math.min(...finite), Math.max(...finite)];
  const expect = (at, picture) => {
    assert.deepEqual([picture.width, picture.height], [at.columns, at.rows]);
    for (let row = 0; row < at.rows; ++row) {
      for (let column = 0; column < at.columns; ++column) {
        const value = at.value(row, column);
        const gray = Math.round((value - min) * 255 / (max - min));
        const [red, green, blue, opaque] = picture.data.slice(4 * (row * at.columns + column));
        const [shown, limit] = Number.isNaN(value) ? [[255, 0, 0], 0] : [[gray, gray, gray], 1];
        assert.equal(opaque, 255);
        assert.ok([red, green, blue].every((part, i) => Math.abs(part - shown[i]) <= limit), `${row}, ${column}: ${value}`);
      }
    }
  };
  await drop("page.cuszi");
  await until("document.body.dataset.seconds");
  expect({rows: 40, columns: 50, value: (y, x) => wanted[12 * 2000 + y * 50 + x]}, await evaluate(pixels));
  await evaluate(`slice.value = 3; slice.oninput()`);
  expect({rows: 40, columns: 50, value: (y, x) => wanted[3 * 2000 + y * 50 + x]}, await evaluate(pixels));
  await evaluate(`axis.value = 2; axis.onchange(); slice.value = 9; slice.oninput()`);
  expect({rows: 24, columns: 40, value: (z, y) => wanted[z * 2000 + y * 50 + 9]}, await evaluate(pixels));
  const report = await evaluate(`document.querySelector("#report").innerText`);
  assert.match(report, /24 x 40 x 50 of f32/);
  assert.match(report, /rel 0\.001/);
  const bound = Number(/largest error\s+(\S+)/.exec(report)[1]);
  assert.ok(values.every((value, i) => Number.isNaN(value) || Math.abs(value - wanted[i]) <= bound * 1.00001));
});

test("a damaged archive is an error on the page", async () => {
  const shape = [24, 40, 50];
  const {archive} = archived("bad.cuszi", write("bad", shape, field(shape)), "-e", "1e-3");
  archive[archive.length >> 1] ^= 16;
  const {writeFileSync} = await import("node:fs");
  writeFileSync(join(folder, "bad.cuszi"), archive);
  await drop("bad.cuszi");
  assert.match(await until(`document.querySelector("#error").textContent`), /damaged|does not match|checksum/);
  assert.ok(await evaluate("view.hidden"));
});

test("512 x 512 x 64 opens in less than 2 s", async () => {
  const shape = [64, 512, 512];
  archived("vast.cuszi", write("vast", shape, field(shape)), "-e", "1e-3");
  const seconds = [];
  for (let turn = 0; turn < 3; ++turn) {
    await drop("vast.cuszi");
    seconds.push(Number(await until("document.body.dataset.seconds")));
  }
  console.log(`512 x 512 x 64 opened in ${seconds.map((one) => one.toFixed(2)).join(", ")} s`);
  assert.ok(Math.min(...seconds) < 2);
  const {width, height, data} = await evaluate(pixels);
  assert.ok(width >= 128 && height >= 128);
  assert.ok(new Set(data).size > 100);
});
