// Written by hookmux verify: a program around @cursor/sdk. The SDK is Cursor's own local agent, which runs the tools
// and calls the hooks. What it talks to, the service of its maker, is played here: it asks a model and says which tool
// runs next, nothing more.
//
//   node cursor.mjs --version
//   node cursor.mjs -p PROMPT
//
// HOOKMUX_MODEL_URL is the address of a model that speaks Chat Completions.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(import.meta.url);
const main = require.resolve('@cursor/sdk');
const manifest = main.slice(0, main.lastIndexOf('/dist/')) + '/package.json';
if (process.argv.includes('--version')) {
  console.log(JSON.parse(readFileSync(manifest, 'utf8')).version);
  process.exit(0);
}
const prompt = process.argv[process.argv.indexOf('-p') + 1];
const requireOfSDK = createRequire(manifest);
const { proto3, MethodKind, ScalarType } = requireOfSDK('@bufbuild/protobuf');
const { connectNodeAdapter } = requireOfSDK('@connectrpc/connect-node');
const { Code, ConnectError } = requireOfSDK('@connectrpc/connect');

// The messages of the protocol that a turn needs, with the members that are looked at.
const { STRING, BOOL, UINT32, INT32, INT64 } = ScalarType;
const message = (name, ...fields) => proto3.makeMessageType(name, () => fields.map(([no, field, type, more]) =>
  ({ no, name: field, kind: typeof type === 'number' ? 'scalar' : 'message', T: type, ...more })));
const of = (oneof) => ({ oneof });
const list = { repeated: true };
const agent = (name, ...fields) => message('agent.v1.' + name, ...fields);
const Anything = agent('Anything');
const Action = agent('ConversationAction', [1, 'user_message_action', agent('UserMessageAction',
  [1, 'user_message', agent('UserMessage', [1, 'text', STRING])]), of('action')]);
const RunRequest = agent('AgentRunRequest', [2, 'action', Action], [5, 'conversation_id', STRING]);
const Context = agent('RequestContext', [28, 'hooks_config', agent('HooksConfigInfo', [1, 'configured_steps', STRING, list])]);
const ContextResult = agent('RequestContextResult', [1, 'success', agent('RequestContextSuccess', [1, 'request_context', Context]), of('result')]);
const Hook = agent('ExecuteHookArgs', [1, 'request', agent('ExecuteHookRequest', [8, 'after_agent_response',
  agent('AfterAgentResponseRequestQuery', [1, 'text', STRING], [2, 'conversation_id', STRING], [3, 'generation_id', STRING],
    [4, 'model', STRING]), of('request')])]);
const Words = agent('ShellStreamStdout', [1, 'data', STRING]);
const HookContext = agent('HookAdditionalContext', [1, 'hook_event_name', STRING], [2, 'content', STRING]);
const ShellStream = agent('ShellStream', [1, 'stdout', Words, of('event')], [2, 'stderr', Words, of('event')],
  [3, 'exit', agent('ShellStreamExit', [1, 'code', UINT32], [4, 'aborted', BOOL]), of('event')],
  [5, 'rejected', agent('ShellRejected', [3, 'reason', STRING]), of('event')],
  [6, 'permission_denied', agent('ShellPermissionDenied', [3, 'error', STRING]), of('event')],
  [8, 'hook_context', agent('ShellStreamHookContext', [1, 'hook_additional_contexts', HookContext, list]), of('event')]);
const FromExecutor = agent('ExecClientMessage', [1, 'id', UINT32], [10, 'request_context_result', ContextResult, of('message')],
  [27, 'execute_hook_result', Anything, of('message')], [14, 'shell_stream', ShellStream, of('message')],
  [45, 'hook_additional_contexts', HookContext, list]);
const Control = agent('ExecClientControlMessage', [1, 'stream_close', agent('ExecClientStreamClose', [1, 'id', UINT32]), of('message')],
  [2, 'throw', agent('ExecClientThrow', [1, 'id', UINT32], [2, 'error', STRING]), of('message')]);
const FromClient = agent('AgentClientMessage', [1, 'run_request', RunRequest, of('message')],
  [2, 'exec_client_message', FromExecutor, of('message')], [3, 'kv_client_message', Anything, of('message')],
  [4, 'conversation_action', Action, of('message')], [5, 'exec_client_control_message', Control, of('message')]);
const ShellArgs = agent('ShellArgs', [1, 'command', STRING], [2, 'working_directory', STRING], [3, 'timeout', INT32],
  [4, 'tool_call_id', STRING], [17, 'close_stdin', BOOL]);
const ToExecutor = agent('ExecServerMessage', [1, 'id', UINT32], [15, 'exec_id', STRING],
  [10, 'request_context_args', Anything, of('message')], [27, 'execute_hook_args', Hook, of('message')],
  [14, 'shell_stream_args', ShellArgs, of('message')], [55, 'accept_hook_additional_contexts', BOOL]);
const Update = agent('InteractionUpdate', [1, 'text_delta', agent('TextDeltaUpdate', [1, 'text', STRING]), of('message')],
  [14, 'turn_ended', agent('TurnEndedUpdate'), of('message')]);
const ToClient = agent('AgentServerMessage', [1, 'interaction_update', Update, of('message')],
  [2, 'exec_server_message', ToExecutor, of('message')]);
const RequestID = message('aiserver.v1.BidiRequestId', [1, 'request_id', STRING]);
const Append = message('aiserver.v1.BidiAppendRequest', [1, 'data', STRING], [2, 'request_id', RequestID], [3, 'append_seqno', INT64]);
const Appended = message('aiserver.v1.BidiAppendResponse');
const AgentService = { typeName: 'agent.v1.AgentService',
  methods: { runSSE: { name: 'RunSSE', I: RequestID, O: ToClient, kind: MethodKind.ServerStreaming } } };
const BidiService = { typeName: 'aiserver.v1.BidiService',
  methods: { bidiAppend: { name: 'BidiAppend', I: Append, O: Appended, kind: MethodKind.Unary } } };

// Queue hands on, in order, what was put in; an end is undefined.
class Queue {
  #have = [];
  #wake = () => {};
  put(value) {
    this.#have.push(value);
    this.#wake();
  }
  async take() {
    while (!this.#have.length) await new Promise((wake) => { this.#wake = wake; });
    return this.#have.shift();
  }
}

// What the client sends comes in calls of their own, which name the stream they belong to.
const streams = new Map();
const streamOf = (id) => streams.get(id) ?? streams.set(id, { next: 0n, early: new Map(), calls: new Map(), prompts: new Queue() }).get(id);

function append(request) {
  const stream = streamOf(request.requestId.requestId);
  stream.early.set(request.appendSeqno, FromClient.fromBinary(Buffer.from(request.data, 'hex')));
  for (let next; (next = stream.early.get(stream.next)) !== undefined; stream.next++) {
    stream.early.delete(stream.next);
    receive(stream, next.message);
  }
  return new Appended();
}

function receive(stream, { case: kind, value }) {
  if (kind === 'runRequest') stream.prompts.put(value);
  else if (kind === 'execClientMessage') stream.calls.get(value.id)?.heard(value);
  else if (kind === 'execClientControlMessage') stream.calls.get(value.message.value?.id)?.closed(value.message);
}

// conversations are what the model was told so far, by conversation.
const conversations = new Map();
let calls = 0;

async function* runTurn(request) {
  const id = request.requestId;
  const stream = streamOf(id);
  const run = await stream.prompts.take();
  const told = conversations.get(run.conversationId) ?? [];
  conversations.set(run.conversationId, told);
  const out = new Queue();
  takeTurn(stream, run, told, (m) => out.put(new ToClient({ message: m }))).then(() => out.put(undefined), (err) => out.put(err));
  for (let m; (m = await out.take()) !== undefined;) {
    if (m instanceof Error) throw new ConnectError(m.message, Code.InvalidArgument);
    yield m;
  }
  streams.delete(id);
}

async function takeTurn(stream, run, told, send) {
  let context;
  await execute(stream, send, { case: 'requestContextArgs', value: {} }, ({ message: { value } }) => {
    context = value?.result.value?.requestContext;
  });
  const said = run.action?.action.value?.userMessage?.text;
  if (said) told.push({ role: 'user', content: said });
  for (;;) {
    const reply = await askModel(told);
    told.push(reply);
    if (reply.content) send({ case: 'interactionUpdate', value: { message: { case: 'textDelta', value: { text: reply.content } } } });
    if (!reply.tool_calls?.length) break;
    const results = await Promise.all(reply.tool_calls.map((call) => runTool(stream, call, send)));
    reply.tool_calls.forEach((call, i) => told.push({ role: 'tool', tool_call_id: call.id, content: results[i] }));
  }
  if (context?.hooksConfig?.configuredSteps.includes('afterAgentResponse')) {
    await execute(stream, send, { case: 'executeHookArgs', value: { request: { request: { case: 'afterAgentResponse', value: {
      text: told.at(-1).content ?? '', conversationId: run.conversationId, generationId: run.conversationId, model: 'scripted' } } } } }, () => {});
  }
  send({ case: 'interactionUpdate', value: { message: { case: 'turnEnded', value: {} } } });
}

async function askModel(messages) {
  const tools = [{ type: 'function', function: { name: 'Shell', description: 'Runs a command.', parameters: { type: 'object',
    properties: { command: { type: 'string' } }, required: ['command'] } } }];
  const response = await fetch(process.env.HOOKMUX_MODEL_URL + '/v1/chat/completions', { method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.CURSOR_API_KEY },
    body: JSON.stringify({ model: 'scripted', messages, tools }) });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  const { role, content, tool_calls } = (await response.json()).choices[0].message;
  return { role, content, ...(tool_calls ? { tool_calls } : {}) };
}

// execute has the client do one thing; heard gets all that comes of it. The end is an error, or nothing.
function execute(stream, send, message, heard) {
  const id = ++calls;
  return new Promise((done) => {
    stream.calls.set(id, { heard, closed({ case: kind, value }) {
      stream.calls.delete(id);
      done(kind === 'throw' ? value.error : '');
    } });
    send({ case: 'execServerMessage', value: { id, execId: `exec-${id}`, acceptHookAdditionalContexts: true, message } });
  });
}

// runTool has the client run a command and gives what the model reads of it.
async function runTool(stream, call, send) {
  const text = [];
  let end = '';
  const context = (contexts) => { for (const c of contexts) text.push(`\n${c.hookEventName}: ${c.content}\n`); };
  const value = { command: JSON.parse(call.function.arguments).command, workingDirectory: process.cwd(), timeout: 600000,
    toolCallId: call.id, closeStdin: true };
  const failed = await execute(stream, send, { case: 'shellStreamArgs', value }, ({ message, hookAdditionalContexts }) => {
    context(hookAdditionalContexts);
    const event = message.value?.event;
    if (event?.case === 'stdout' || event?.case === 'stderr') text.push(event.value.data);
    else if (event?.case === 'exit') end = `\nexit code ${event.value.code}`;
    else if (event?.case === 'rejected') end = `rejected: ${event.value.reason}`;
    else if (event?.case === 'permissionDenied') end = `permission denied: ${event.value.error}`;
    else if (event?.case === 'hookContext') context(event.value.hookAdditionalContexts);
  });
  return [...text, failed ? `failed: ${failed}` : end].join('');
}

const service = createServer(connectNodeAdapter({
  routes: (router) => router.service(AgentService, { runSSE: runTurn }).service(BidiService, { bidiAppend: append }),
  fallback(request, response) { // what is asked beside a turn: a login, settings of a team, statistics
    response.setHeader('content-type', request.headers['content-type'] ?? 'application/json');
    if (request.url === '/auth/exchange_user_api_key') response.end('{"accessToken":"scripted"}');
    else if (request.url === '/v1/models') response.end('{"items":[{"id":"scripted","displayName":"Scripted"}]}');
    else response.end(request.headers['content-type'] === 'application/proto' ? '' : '{}'); // every member left out
  },
}));
await new Promise((listening) => service.listen(0, '127.0.0.1', listening));
process.env.CURSOR_BACKEND_URL = `http://127.0.0.1:${service.address().port}`;

let code = 0;
try {
  const { Agent } = await import('@cursor/sdk'); // reads the address of its service now
  const cursor = await Agent.create({ apiKey: process.env.CURSOR_API_KEY, model: { id: 'scripted' },
    local: { cwd: process.cwd(), settingSources: ['user', 'project'], enableAgentRetries: false } });
  const turn = await cursor.send(prompt);
  const result = await turn.wait();
  console.log(result.result ?? result.status);
  if (result.status !== 'finished') code = 1;
  await cursor[Symbol.asyncDispose]();
} catch (err) {
  console.error(err?.message ?? err);
  code = 1;
}
process.exit(code);
