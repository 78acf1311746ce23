// Written by hookmux verify: a person's window on CodeBuddy Code. What its
// maker publishes has no terminal of its own, so this hosts it over the protocol
// of its SDK, shows what it asks and passes on what a person types.
//
//   node codebuddy.mjs PROGRAM ARGUMENT… [-- PROMPT]
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const words = process.argv.slice(2);
const cut = words.lastIndexOf('--');
const [program, ...args] = cut < 0 ? words : words.slice(0, cut);
// A host names the session, or it would begin another one after an interrupt.
const named = args.includes('--resume') || args.includes('--session-id') ? [] : ['--session-id', randomUUID()];
const agent = spawn(program, [...args, ...named, '--input-format=stream-json', '--output-format=stream-json', '--verbose'],
  { stdio: ['pipe', 'pipe', 'inherit'] });

const send = (message) => agent.stdin.write(JSON.stringify(message) + '\n');
let requests = 0;
let session = '';
const ask = (request) => send({ type: 'control_request', request_id: `window-${++requests}`, request });
const say = (content) => send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: session });

let lines = []; // what was said last
let waiting = []; // what the user is asked, oldest first
let typed = '';
// The whole screen anew each time: a question that was answered is gone.
const draw = () => {
  const asks = waiting[0]?.request;
  const question = asks ? `May ${asks.tool_name} go on? ${asks.decision_reason ?? ''}\n${JSON.stringify(asks.input)}\ny: yes   n: no\n` : '';
  process.stdout.write(`\x1b[2J\x1b[H${lines.slice(-20).join('\n')}\n${question}> ${typed}`);
};
const answer = (allowed) => {
  const { request_id, request } = waiting.shift();
  const response = { allowed, tool_use_id: request.tool_use_id, ...(allowed ? { updatedInput: request.input } : { reason: 'The user said no.' }) };
  send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
};

createInterface({ input: agent.stdout }).on('line', (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  session ||= message.session_id ?? '';
  if (message.type === 'control_request' && message.request?.subtype === 'can_use_tool') waiting.push(message);
  else if (message.type === 'control_cancel_request') waiting = waiting.filter((w) => w.request_id !== message.request_id);
  else if (message.type === 'assistant') for (const part of message.message?.content ?? []) lines.push(part.text ?? `${part.name} ${JSON.stringify(part.input)}`.slice(0, 300));
  draw();
});
agent.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => agent.kill(signal));

if (process.stdin.isTTY) process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8').on('data', (keys) => {
  for (const key of keys) {
    if (waiting.length && (key === 'y' || key === 'n')) answer(key === 'y');
    else if (key === '\x1b') ask({ subtype: 'interrupt', session_id: session, reason: 'Interrupted by user' });
    else if (key !== '\r') typed += key;
    else {
      if (typed === '/exit') agent.stdin.end();
      else if (typed) say(typed);
      typed = '';
    }
  }
  draw();
});
ask({ subtype: 'initialize', capabilities: { askUserQuestion: true }, hasPrompt: cut >= 0 });
if (cut >= 0) say(words.slice(cut + 1).join(' '));
