// Runs Perfetto's trace processor (the WebAssembly build of its user interface) under Node.
//
// The interface runs it in a web worker; here the few things of a worker that it touches are put in
// place. What comes in by standard input goes to its RPC pipe, what it answers goes to standard
// output, in both directions as blocks of four bytes of length (little endian) and the bytes. An
// answer to a block ends with an empty block.
'use strict';
const fs = require('fs');
const path = require('path');

const folder = process.argv[2];

function patched(text, what, by) {
  if (!text.includes(what)) throw new Error(`the engine bundle is not the one expected: no "${what}"`);
  return text.replace(what, by);
}

let bundle = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8');
// The package has the 32-bit build only, whatever this Node could do.
bundle = patched(bundle, 'this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;');
bundle = patched(bundle, 'const wasmBridge = new', 'const wasmBridge = globalThis.pipe = new');

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = Object;
globalThis.location = { href: 'file:///' };
// The module is fetched synchronously.
globalThis.XMLHttpRequest = class {
  open(_method, name) {
    this.name = path.basename(name);
  }
  send() {
    this.status = 200;
    this.response = new Uint8Array(fs.readFileSync(path.join(folder, this.name))).buffer;
  }
};
// Standard output belongs to the answers.
console.log = console.error;
console.warn = console.error;

function writeAll(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

function answer(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  writeAll(length);
  writeAll(bytes);
}

/** Fills a buffer from standard input; false at its end. */
function readAll(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const count = fs.readSync(0, bytes, at, bytes.length - at, null);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

(0, eval)(bundle);
const port = { postMessage: answer };
globalThis.onmessage({ data: port });

function serve() {
  // Set when the module has been compiled and its pipe is open.
  if (!globalThis.pipe.reqBufferAddr) return void setTimeout(serve, 5);
  const length = Buffer.alloc(4);
  while (readAll(length)) {
    const request = Buffer.alloc(length.readUInt32LE());
    if (!readAll(request)) break;
    port.onmessage({ data: new Uint8Array(request) });
    answer(Buffer.alloc(0));
  }
  process.exit(0);
}
serve();
