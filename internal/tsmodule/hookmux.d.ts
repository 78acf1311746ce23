// Types for hooks that hookmux runs. `hookmux module new` puts this file beside
// the hook; editors find it by themselves. It also stands in for pi's packages,
// so that a hook written for pi is completed here as well.

declare module "hookmux" {
  export interface TextContent { type: "text"; text: string }
  export interface ImageContent { type: "image"; data: string; mimeType: string }
  export type Content = TextContent | ImageContent;

  /** The agent's own words, beside pi's. */
  export interface Native {
    agent: string;
    event: string;
    kind: string;
    toolName?: string;
    toolKind?: string;
    input?: Record<string, any>;
  }
  interface Base { native: Native }

  export interface BashInput { command: string; timeout?: number; [key: string]: any }
  export interface ReadInput { path: string; offset?: number; limit?: number; [key: string]: any }
  export interface WriteInput { path: string; content: string; [key: string]: any }
  export interface EditInput { path: string; oldText?: string; newText?: string; edits?: { oldText: string; newText: string }[]; [key: string]: any }
  export interface LsInput { path?: string; limit?: number; [key: string]: any }
  export interface FindInput { pattern: string; path?: string; limit?: number; [key: string]: any }
  export interface GrepInput { pattern: string; path?: string; glob?: string; ignoreCase?: boolean; literal?: boolean; context?: number; limit?: number; [key: string]: any }
  type Tools = { bash: BashInput; read: ReadInput; write: WriteInput; edit: EditInput; ls: LsInput; find: FindInput; grep: GrepInput };
  type Call<N extends string, I> = Base & { type: "tool_call"; toolName: N; toolCallId: string; input: I };
  /** One command or file. Change `input` in place to change what runs. */
  export type ToolCallEvent = { [N in keyof Tools]: Call<N, Tools[N]> }[keyof Tools] | Call<string & {}, Record<string, any>>;
  export interface ToolCallResult { block?: boolean; reason?: string }

  export interface ToolResultEvent extends Base { type: "tool_result"; toolName: string; toolCallId: string; input: Record<string, any>; content: Content[]; details?: any; isError: boolean }
  export interface ToolResultResult { content?: Content[]; details?: any; isError?: boolean }

  export interface InputEvent extends Base { type: "input"; text: string; images?: ImageContent[]; source: "interactive" | "rpc" | "extension" }
  export type InputResult = { action: "continue" } | { action: "handled" } | { action: "transform"; text: string; images?: ImageContent[] };
  export interface BeforeAgentStartEvent extends Base { type: "before_agent_start"; prompt: string; systemPrompt: string; systemPromptOptions: any }
  export interface BeforeAgentStartResult { message?: { customType: string; content: string | Content[]; display?: boolean }; systemPrompt?: string; systemPromptAppend?: string }

  export interface Message { role: string; content: string | Content[]; timestamp?: number; [key: string]: any }
  export interface Entry { type: string; id?: string; timestamp?: string; message?: Message; [key: string]: any }

  export interface SessionStartEvent extends Base { type: "session_start"; reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }
  export interface SessionShutdownEvent extends Base { type: "session_shutdown"; reason: string }
  export interface AgentEndEvent extends Base { type: "agent_end"; messages: Message[] }
  export interface TurnStartEvent extends Base { type: "turn_start"; turnIndex: number; timestamp: number }
  export interface TurnEndEvent extends Base { type: "turn_end"; turnIndex: number; message: Message; toolResults: Message[]; entries?: any[]; continue?: boolean }
  /** Return `{ continue: true, entries: [{ content }] }` to keep the agent going. `goingOn` says that a hook did so before. */
  export interface BeforeSettleEvent extends Base { type: "agent_before_settle"; outcome: string; goingOn?: boolean }
  /** Outside of pi `preparation` and `branchEntries` throw: only pi tells them. */
  export interface BeforeCompactEvent extends Base { type: "session_before_compact"; reason: string; customInstructions?: string; preparation: any; branchEntries: Entry[]; signal: AbortSignal }
  // --- pi only: what happens inside it. Files are asked in their order, each sees what those before it left. ---
  /** Before each call of the model. Return the messages, or change them in place. */
  export interface ContextEvent extends Base { type: "context"; messages: Message[] }
  /** The request as the provider gets it; what is returned takes its place. */
  export interface BeforeProviderRequestEvent extends Base { type: "before_provider_request"; payload: any }
  /** Change headers in place; null takes one out. Those that hold a key are not shown. */
  export interface BeforeProviderHeadersEvent extends Base { type: "before_provider_headers"; headers: Record<string, string | null> }
  export interface AfterProviderResponseEvent extends Base { type: "after_provider_response"; status: number; headers: Record<string, string> }
  /** A message is whole; one of the same role may take its place. */
  export interface MessageEvent extends Base { type: string; message: Message; assistantMessageEvent?: any }
  /** A command the person typed with `!`. A throw stops it. */
  export interface UserBashEvent extends Base { type: "user_bash"; command: string; excludeFromContext: boolean; cwd: string }
  export interface UserBashResult { result: { output: string; exitCode: number | undefined; cancelled: boolean; truncated: boolean; fullOutputPath?: string } }
  export interface BeforeTreeEvent extends Base { type: "session_before_tree"; preparation: { targetId: string; oldLeafId: string | null; entriesToSummarize: Entry[]; userWantsSummary: boolean; [key: string]: any }; signal: AbortSignal }
  export interface BeforeTreeResult { cancel?: boolean; summary?: { summary: string; details?: any }; customInstructions?: string; replaceInstructions?: boolean; label?: string }
  export interface ModelSelectEvent extends Base { type: "model_select"; model: { provider: string; id: string; [key: string]: any }; previousModel?: { provider: string; id: string; [key: string]: any }; source: string }
  export interface ToolExecutionEvent extends Base { type: string; toolCallId: string; toolName: string; args?: any; partialResult?: any; result?: any; isError?: boolean }

  /** The first generation's one session event. */
  export interface SessionEvent extends Base {
    type: "session";
    reason: "start" | "before_switch" | "switch" | "before_clear" | "clear" | "before_new" | "new" | "before_branch" | "branch" | "before_compact" | "compact" | "shutdown";
    entries: Entry[];
    [key: string]: any;
  }

  export interface DialogOptions { timeout?: number; signal?: AbortSignal }
  export interface UI {
    /** The chosen option; undefined (null in the first generation) when cancelled. */
    select(title: string, options: string[], more?: DialogOptions): Promise<string | undefined>;
    confirm(title: string, message?: string, more?: DialogOptions): Promise<boolean>;
    input(title: string, placeholder?: string, more?: DialogOptions): Promise<string | undefined>;
    editor(title: string, prefill?: string): Promise<string | undefined>;
    notify(message: string, level?: "info" | "warning" | "error"): void;
    [member: string]: any;
  }
  export interface ExecOptions { cwd?: string; timeout?: number; signal?: AbortSignal; env?: Record<string, string> }
  export interface ExecResult { stdout: string; stderr: string; code: number; killed: boolean }

  export interface Context {
    /** The agent's name in hookmux: claude, codex, pi … */
    agent: string;
    sessionId: string;
    /** Whether somebody could answer a dialog. */
    hasUI: boolean;
    ui: UI;
    cwd: string;
    mode: "tui" | "rpc" | "print" | "json";
    sessionFile?: string | null;
    sessionManager: { getEntries(): Entry[]; getBranch(): Entry[]; getLeafEntry(): Entry | undefined; getSessionFile(): string | undefined; getSessionId(): string; [member: string]: any };
    /** Fires shortly before the agent's time for this event is over. */
    signal: AbortSignal;
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    isIdle(): boolean;
    [member: string]: any;
  }

  type Handler<E, R = void> = (event: E, ctx: Context) => R | void | undefined | Promise<R | void | undefined>;

  /** What a handler is given, and what it may return. */
  export interface Events {
    tool_call: [ToolCallEvent, ToolCallResult];
    tool_result: [ToolResultEvent, ToolResultResult];
    input: [InputEvent, InputResult];
    before_agent_start: [BeforeAgentStartEvent, BeforeAgentStartResult];
    session_start: [SessionStartEvent, void];
    session_shutdown: [SessionShutdownEvent, void];
    agent_start: [Base, void];
    agent_end: [AgentEndEvent, void];
    agent_settled: [Base & { aborted: boolean }, void];
    agent_before_settle: [BeforeSettleEvent, { continue?: boolean; entries?: { content: string | Content[] }[] }];
    turn_start: [TurnStartEvent, void];
    /** In pi `{ entries, continue }` may be returned. */
    turn_end: [TurnEndEvent, { continue?: boolean; entries?: any[] }];
    session_before_compact: [BeforeCompactEvent, { cancel?: boolean; compaction?: any }];
    session: [SessionEvent, { cancel?: boolean; skipConversationRestore?: boolean; compactionEntry?: any }];
    session_before_switch: [Base & { reason: "new" | "resume"; targetSessionFile?: string }, { cancel?: boolean }];
    session_before_fork: [Base & { entryId: string; position: "before" | "at" }, { cancel?: boolean; skipConversationRestore?: boolean }];
    session_before_tree: [BeforeTreeEvent, BeforeTreeResult];
    context: [ContextEvent, { messages?: Message[] }];
    context_with_system: [ContextEvent, { messages?: Message[] }];
    before_provider_request: [BeforeProviderRequestEvent, any];
    before_provider_headers: [BeforeProviderHeadersEvent, void];
    after_provider_response: [AfterProviderResponseEvent, void];
    message_start: [MessageEvent, void];
    message_update: [MessageEvent, void];
    message_end: [MessageEvent, { message?: Message }];
    tool_execution_start: [ToolExecutionEvent, void];
    tool_execution_update: [ToolExecutionEvent, void];
    tool_execution_end: [ToolExecutionEvent, void];
    user_bash: [UserBashEvent, UserBashResult];
    model_select: [ModelSelectEvent, void];
    resources_discover: [Base & { cwd: string; reason: string }, { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] }];
    project_trust: [Base & { cwd: string }, { trusted: "yes" | "no" | "undecided"; remember?: boolean }];
  }

  export interface HookAPI {
    on<N extends keyof Events | (string & {})>(name: N, run: N extends keyof Events ? Handler<Events[N][0], Events[N][1]> : Handler<any, any>): () => void;
    /** Into this session: at once where the agent has a channel, else as context at its next event. */
    send(text: string, attachments?: any[]): void;
    sendMessage(message: { customType?: string; content: string | Content[]; display?: boolean }, options?: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" }): void;
    sendUserMessage(content: string | Content[], options?: { deliverAs?: "steer" | "followUp" }): void;
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    [member: string]: any;
  }
  export type ExtensionAPI = HookAPI;
  export type ExtensionContext = Context;
  export type HookContext = Context;

  type Guard<N extends string> = ToolResultEvent & { toolName: N };
  export function isBashToolResult(event: ToolResultEvent): event is Guard<"bash">;
  export function isReadToolResult(event: ToolResultEvent): event is Guard<"read">;
  export function isEditToolResult(event: ToolResultEvent): event is Guard<"edit">;
  export function isWriteToolResult(event: ToolResultEvent): event is Guard<"write">;
  export function isGrepToolResult(event: ToolResultEvent): event is Guard<"grep">;
  export function isFindToolResult(event: ToolResultEvent): event is Guard<"find">;
  export function isLsToolResult(event: ToolResultEvent): event is Guard<"ls">;
  export const version: string;
}

declare module "@mariozechner/pi-coding-agent/hooks" { export * from "hookmux"; }
declare module "@mariozechner/pi-coding-agent" { export * from "hookmux"; }
declare module "@earendil-works/pi-coding-agent" { export * from "hookmux"; }
declare module "@mariozechner/pi-*";
declare module "@earendil-works/pi-*";
declare module "@sinclair/typebox" { export const Type: any; export type Static<T> = any; export type TSchema = any; export const Kind: any; }
declare module "typebox" { export * from "@sinclair/typebox"; }

// --- what there is of Node. With @types/node beside the hook its own count. ---------

declare module "node:path" {
  export interface Path {
    sep: string;
    delimiter: string;
    join(...parts: string[]): string;
    resolve(...parts: string[]): string;
    normalize(path: string): string;
    isAbsolute(path: string): boolean;
    dirname(path: string): string;
    basename(path: string, suffix?: string): string;
    extname(path: string): string;
    relative(from: string, to: string): string;
    parse(path: string): { root: string; dir: string; base: string; ext: string; name: string };
    posix: Path;
  }
  const path: Path;
  export default path;
  export const sep: string, delimiter: string;
  export const join: Path["join"], resolve: Path["resolve"], normalize: Path["normalize"], isAbsolute: Path["isAbsolute"], dirname: Path["dirname"];
  export const basename: Path["basename"], extname: Path["extname"], relative: Path["relative"], parse: Path["parse"], posix: Path;
}
declare module "node:fs" {
  type Encoding = "utf8" | "utf-8" | "base64" | "hex" | "latin1" | "ascii";
  type Data = string | Uint8Array;
  export interface Stats { size: number; mode: number; mtimeMs: number; mtime: Date; isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }
  export interface Dirent { name: string; isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }
  export interface FSWatcher { close(): void; on(name: string, run: (...args: any[]) => void): this }
  type WatchListener = (what: string, name: string) => void;
  export interface FS {
    readFileSync(path: string, options: Encoding | { encoding: Encoding }): string;
    readFileSync(path: string): Buffer;
    writeFileSync(path: string, data: Data, options?: any): void;
    appendFileSync(path: string, data: Data, options?: any): void;
    existsSync(path: string): boolean;
    statSync(path: string, options?: any): Stats;
    lstatSync(path: string, options?: any): Stats;
    readdirSync(path: string, options: { withFileTypes: true; recursive?: boolean }): Dirent[];
    readdirSync(path: string, options?: any): string[];
    mkdirSync(path: string, options?: any): string | undefined;
    mkdtempSync(prefix: string): string;
    rmSync(path: string, options?: { recursive?: boolean; force?: boolean }): void;
    unlinkSync(path: string): void;
    renameSync(from: string, to: string): void;
    copyFileSync(from: string, to: string): void;
    realpathSync(path: string): string;
    chmodSync(path: string, mode: number): void;
    watch(path: string, listener?: WatchListener): FSWatcher;
    watch(path: string, options: any, listener?: WatchListener): FSWatcher;
    promises: Record<string, (...args: any[]) => Promise<any>>;
    [member: string]: any;
  }
  const fs: FS;
  export default fs;
  export const readFileSync: FS["readFileSync"], writeFileSync: FS["writeFileSync"], appendFileSync: FS["appendFileSync"], existsSync: FS["existsSync"];
  export const statSync: FS["statSync"], lstatSync: FS["lstatSync"], readdirSync: FS["readdirSync"], mkdirSync: FS["mkdirSync"], mkdtempSync: FS["mkdtempSync"], rmSync: FS["rmSync"];
  export const unlinkSync: FS["unlinkSync"], renameSync: FS["renameSync"], copyFileSync: FS["copyFileSync"], realpathSync: FS["realpathSync"], chmodSync: FS["chmodSync"], watch: FS["watch"];
  export const promises: FS["promises"], createReadStream: any, createWriteStream: any, constants: any, watchFile: any, unwatchFile: any;
}
declare module "node:http" {
  export interface IncomingMessage { method: string; url: string; headers: Record<string, string>; on(name: "data", run: (chunk: Buffer) => void): this; on(name: string, run: (...args: any[]) => void): this; [Symbol.asyncIterator](): AsyncIterator<Buffer>; [member: string]: any }
  export interface ServerResponse { statusCode: number; setHeader(name: string, value: string): this; writeHead(status: number, headers?: Record<string, string>): this; write(text: string | Uint8Array): boolean; end(text?: string | Uint8Array): this; [member: string]: any }
  export interface Server { listen(port: number, ...more: any[]): this; close(done?: () => void): this; address(): { port: number } | null; on(name: string, run: (...args: any[]) => void): this; [member: string]: any }
  export interface HTTP { createServer(run: (request: IncomingMessage, response: ServerResponse) => void): Server; [member: string]: any }
  const http: HTTP;
  export default http;
  export const createServer: HTTP["createServer"], request: any, get: any;
}
declare module "node:os" {
  const os: { homedir(): string; tmpdir(): string; hostname(): string; platform(): string; EOL: string; [member: string]: any };
  export default os;
  export const homedir: () => string, tmpdir: () => string, hostname: () => string, platform: () => string, EOL: string, userInfo: any, cpus: any;
}
declare module "node:*";
declare module "fs" { export * from "node:fs"; export { default } from "node:fs"; }
declare module "path" { export * from "node:path"; export { default } from "node:path"; }
declare module "os" { export * from "node:os"; export { default } from "node:os"; }
declare module "http" { export * from "node:http"; export { default } from "node:http"; }
declare module "fs/promises";
declare module "child_process";
declare module "crypto";
declare module "events";
declare module "readline";
declare module "url";
declare module "util";
declare module "zlib";

interface Buffer extends Uint8Array { toString(encoding?: string): string; [member: string]: any }
declare var Buffer: { from(data: any, encoding?: string): Buffer; concat(list: Uint8Array[]): Buffer; alloc(size: number): Buffer; byteLength(text: string): number; [member: string]: any };
declare var process: { env: Record<string, string | undefined>; cwd(): string; platform: string; pid: number; argv: string[]; [member: string]: any };
declare var require: (name: string) => any;
