// Written by hookmux verify: a program around Amp's own command line, which loads the plugins and runs the tools on
// this machine. The service in which its threads run is played here: it asks a model, leases Amp the calls of tools,
// and says when a turn begins and ends, nothing more.
//
//   node amp.mjs --version
//   node amp.mjs -x PROMPT
//
// HOOKMUX_MODEL_URL is the address of a model that speaks Chat Completions.
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chmodSync } from 'node:fs';

const program = fileURLToPath(new URL(`node_modules/@ampcode/cli-${process.platform}-${process.arch}/amp`, import.meta.url));
chmodSync(program, 0o755); // packages need not say that it is one
if (process.argv.includes('--version')) {
  const child = spawn(program, ['--version'], { stdio: 'inherit' });
  process.exit(await new Promise((ended) => child.on('exit', ended)));
}
const prompt = process.argv[process.argv.indexOf('-x') + 1];
const thread = 'T-00000000-0000-4000-8000-000000000001';
let ids = 0;
const newID = (kind) => kind + String(++ids).padStart(22, '0');

// What Amp asks beside the thread.
const answers = {
  getUserInfo: { id: 'user_1', email: 'hookmux@example.invalid', features: [] },
  loadPlugins: [],
  loadSkills: { skills: [], versions: {} },
  getThreadTail: { thread: { data: { id: thread, v: 0, created: 0, title: 'Scripted', messages: [], agentMode: 'medium', meta: {} } },
    messages: [], hasMoreBefore: false },
};
const service = createServer((request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json');
  const about = request.url.startsWith('/api/thread-actors')
    ? { threadId: thread, wsToken: 'scripted', ownerUserId: 'user_1', threadVersion: 0, usesDtw: true, usesThreadActors: true,
      executorType: 'local-client' }
    : { ok: true, result: answers[request.url.split('?')[1]] ?? {} };
  response.end(JSON.stringify(about));
});

// A WebSocket, as far as it is used here: whole texts, and frames of any length.
service.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n` +
    'Sec-WebSocket-Protocol: rivet\r\n\r\n');
  const send = (text, kind = 1) => {
    const bytes = Buffer.from(text);
    const head = bytes.length < 126 ? Buffer.from([0x80 | kind, bytes.length]) : Buffer.alloc(10);
    if (bytes.length >= 126) {
      head[0] = 0x80 | kind;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(bytes.length), 2);
    }
    socket.write(Buffer.concat([head, bytes]));
  };
  let got = Buffer.alloc(0);
  let text = [];
  socket.on('error', () => {}); // Amp went
  socket.on('data', (chunk) => {
    got = Buffer.concat([got, chunk]);
    for (;;) {
      if (got.length < 2) return;
      let length = got[1] & 0x7f;
      let at = 2;
      if (length === 126) [length, at] = [got.length < 4 ? Infinity : got.readUInt16BE(2), 4];
      else if (length === 127) [length, at] = [got.length < 10 ? Infinity : Number(got.readBigUInt64BE(2)), 10];
      const masked = (got[1] & 0x80) !== 0;
      const start = at + (masked ? 4 : 0);
      if (got.length < start + length) return;
      const body = Buffer.from(got.subarray(start, start + length));
      if (masked) for (let i = 0; i < body.length; i++) body[i] ^= got[at + (i & 3)];
      const [kind, last] = [got[0] & 0x0f, (got[0] & 0x80) !== 0];
      got = got.subarray(start + length);
      if (kind === 8) return socket.end();
      if (kind === 9) send(body, 10);
      if (kind > 2) continue;
      text.push(body);
      if (!last) continue;
      const whole = Buffer.concat(text).toString();
      text = [];
      if (whole === 'ping') send('pong');
      else receive(JSON.parse(whole), (message) => send(JSON.stringify({ jsonrpc: '2.0', ...message })));
    }
  });
});

// What is waited for, by the id that the answer carries.
const waiting = new Map();
let sendToExecutor;

function receive({ id, method, params }, send) {
  if (id !== undefined) send({ id, result: null });
  if (method === 'executor_connect') {
    sendToExecutor = send;
    send({ method: 'executor_connected', params: { executorId: 'scripted', registeredToolCount: 0, guidanceInventory: [] } });
  }
  if (method === 'executor_plugin_message') {
    const { type, event, id: of, result } = params.message;
    if (event === 'plugins.ready') begin();
    if (type === 'response') waiting.get(of)?.(result);
  }
  if (method === 'executor_tool_result') waiting.get(params.toolCallId)?.(params.run);
}

const executed = (id, message) => new Promise((done) => {
  waiting.set(id, done);
  sendToExecutor(message);
});

// tellPlugins has Amp ask its plugins about an event of the thread.
function tellPlugins(method, event) {
  const id = newID('R-');
  return executed(id, { method: 'plugin_message', params: { message: { type: 'request', id, method,
    params: { event: { thread: { id: thread }, ...event } } } } });
}

// runTool has Amp run a tool and gives what the model reads of it.
async function runTool(call, messageId) {
  const toolCallId = newID('TU-');
  const run = await executed(toolCallId, { method: 'tool_lease', params: { toolCallId, messageId, toolName: call.function.name,
    args: JSON.parse(call.function.arguments) } });
  if (run.status === 'error') return 'failed: ' + (run.error?.message ?? '');
  const { result } = run;
  return typeof result === 'string' ? result : `${result?.output ?? JSON.stringify(result)}\nexit code ${result?.exitCode ?? 0}`;
}

async function askModel(messages) {
  const tools = [{ type: 'function', function: { name: 'shell_command', description: 'Runs a command.', parameters: {
    type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } } }];
  const response = await fetch(process.env.HOOKMUX_MODEL_URL + '/v1/chat/completions', { method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.AMP_API_KEY },
    body: JSON.stringify({ model: 'scripted', messages, tools }) });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  const { role, content, tool_calls } = (await response.json()).choices[0].message;
  return { role, content, ...(tool_calls ? { tool_calls } : {}) };
}

// takeTurn goes from a prompt to the end, and gives what is to be prompted next, if anything is.
async function takeTurn(words, told) {
  const id = newID('M-');
  const begun = await tellPlugins('agent.start', { message: words, id });
  const more = (begun?.messages ?? []).map((message) => message.content ?? message);
  told.push({ role: 'user', content: [words, ...more].join('\n\n') });
  let status = 'done';
  try {
    for (;;) {
      const reply = await askModel(told);
      told.push(reply);
      if (!reply.tool_calls?.length) break;
      const results = await Promise.all(reply.tool_calls.map((call) => runTool(call, id)));
      reply.tool_calls.forEach((call, i) => told.push({ role: 'tool', tool_call_id: call.id, content: results[i] }));
    }
  } catch (err) {
    console.error(err.message);
    status = 'error';
  }
  const text = told.at(-1).content ?? '';
  const messages = [{ role: 'assistant', id: newID('M-'), content: [{ type: 'text', text }] }];
  const ended = await tellPlugins('agent.end', { message: words, id, status, messages });
  if (status === 'done' && ended?.action === 'continue') return ended.userMessage;
  console.log(text);
  leave(status === 'done' ? 0 : 1);
}

let begun = false;
async function begin() {
  if (begun) return;
  begun = true;
  const told = [];
  for (let words = prompt, turns = 0; words && turns < 20; turns++) words = await takeTurn(words, told);
}

await new Promise((listening) => service.listen(0, '127.0.0.1', listening));
const amp = spawn(program, ['-x', prompt, '--plugin-ready-timeout', '10'], { stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, AMP_URL: `http://127.0.0.1:${service.address().port}` } });
amp.on('exit', (code) => process.exit(code ?? 1));

function leave(code) {
  amp.removeAllListeners('exit');
  amp.on('exit', () => process.exit(code));
  amp.kill('SIGTERM');
}
process.on('SIGTERM', () => leave(143));
