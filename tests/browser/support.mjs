// Fields, archives made by the tool, and a server of files; CUSZI is the tool, CUSZI_BROWSER the folder of
// scripts/build_browser.sh.
import {execFileSync} from "node:child_process";
import {createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {basename, extname, join} from "node:path";

const tool = process.env.CUSZI, site = process.env.CUSZI_BROWSER;
export const {arrayFor, open} = await import(join(site, "cuszi.js"));
export const wasmBytes = statSync(join(site, "cuszi.wasm")).size;

export const folder = mkdtempSync(join(tmpdir(), "cuszi-browser-"));
process.on("exit", () => rmSync(folder, {recursive: true}));

export function cuszi(...words) {
  return execFileSync(tool, words, {cwd: folder, encoding: "utf8"});
}

/** Waves of some frequencies, with noise that a fixed seed makes. */
export function field(shape, Type = Float32Array) {
  const values = new Type(shape.reduce((all, one) => all * one, 1));
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  let noise = 1;
  for (let i = 0; i < values.length; ++i) {
    const x = i % columns, y = Math.floor(i / columns) % rows, z = Math.floor(i / columns / rows);
    noise = noise * 48271 % 2147483647;
    values[i] = Math.sin(z / 9) * Math.cos(y / 11) + x / 128 + 1e-3 * noise / 2147483647;
  }
  return values;
}

/** Writes a raw file of values; returns its name, which gives the dims. */
export function write(name, shape, values) {
  const path = `${name}_${shape.join("x")}.${values instanceof Float64Array ? "f64" : "f32"}`;
  writeFileSync(join(folder, path), new Uint8Array(values.buffer));
  return path;
}

/** Compresses a raw file to `archive`; returns the archive's bytes and those that the tool restores. */
export function archived(archive, raw, ...options) {
  cuszi("compress", raw, "-o", archive, "--force", "--device", "cpu", ...options);
  return {archive: bytes(archive), restored: restored(archive)};
}

export function restored(archive, ...options) {
  cuszi("decompress", archive, "-o", "restored.raw", "--force", "--device", "cpu", ...options);
  return bytes("restored.raw");
}

export const bytes = (name) => new Uint8Array(readFileSync(join(folder, name)));

const types = {".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm"};

/** Serves the site and the archives, by ranges unless `whole`; returns the server and its address. */
export async function serve({whole = false} = {}) {
  const server = createServer((request, response) => {
    const name = basename(new URL(request.url, "http://here").pathname) || "index.html";
    const path = join(name in {"index.html": 0, "cuszi.js": 0, "cuszi.wasm": 0} ? site : folder, name);
    const size = statSync(path, {throwIfNoEntry: false})?.size;
    if (size === undefined) return response.writeHead(404).end();
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const headers = {"Content-Type": types[extname(name)] ?? "application/octet-stream"};
    if (!range || whole) return createReadStream(path).pipe(response.writeHead(200, headers));
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]), size - 1)];
    headers["Content-Range"] = `bytes ${start}-${end}/${size}`;
    createReadStream(path, {start, end}).pipe(response.writeHead(206, headers));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {server, address: `http://127.0.0.1:${server.address().port}/`};
}
