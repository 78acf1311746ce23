// Types for hooks that hookmux runs. `hookmux hooks new` puts this file beside
// the hook; editors find it by themselves. It also stands in for pi's packages,
// so that a hook written for pi is checked here as well.

declare module "hookmux" {
  export interface TextContent { type: "text"; text: string }
  export interface ImageContent { type: "image"; data: string; mimeType: string }
  export type Content = TextContent | ImageContent;

  /** The agent's own form of the event. */
  export interface Native {
    agent: string;
    event: string;
    kind: string;
    toolName?: string;
    toolKind?: string;
    input?: Record<string, any>;
  }
  interface Base { native: Native }

  export interface BashInput { command: string; timeout?: number }
  export interface ReadInput { path: string; offset?: number; limit?: number }
  export interface WriteInput { path: string; content: string }
  export interface EditInput { path: string; oldText?: string; newText?: string; edits?: { oldText: string; newText: string }[]; delete?: boolean }
  export interface LsInput { path?: string; limit?: number }
  export interface FindInput { pattern: string; path?: string; limit?: number }
  export interface GrepInput { pattern: string; path?: string; glob?: string; ignoreCase?: boolean; literal?: boolean; context?: number; limit?: number }
  type Tools = { bash: BashInput; read: ReadInput; write: WriteInput; edit: EditInput; ls: LsInput; find: FindInput; grep: GrepInput };
  type Call<N extends string, I> = Base & { type: "tool_call"; toolName: N; toolCallId: string; input: I };
  export type CustomToolCallEvent = Call<string, Record<string, any>>;
  /**
   * One command or file. Change `input` in place to change what runs. Compare `toolName`
   * first: `input` then has the members of that tool. Members that only the agent knows
   * are in `event.native.input`.
   */
  export type ToolCallEvent = { [N in keyof Tools]: Call<N, Tools[N]> }[keyof Tools] | CustomToolCallEvent;
  export interface ToolCallResult { block?: boolean; reason?: string; terminate?: boolean }
  export function isToolCallEventType<N extends keyof Tools>(name: N, event: ToolCallEvent): event is Call<N, Tools[N]>;
  export function isToolCallEventType<N extends string, I extends Record<string, any>>(name: N, event: ToolCallEvent): event is Call<N, I>;

  export interface TruncationResult { truncated: boolean; truncatedBy: "lines" | "bytes" | null; totalLines: number; totalBytes: number; outputLines: number; outputBytes: number; [member: string]: any }
  export interface BashToolDetails { truncation?: TruncationResult; fullOutputPath?: string; [member: string]: any }
  export interface ReadToolDetails { truncation?: TruncationResult; [member: string]: any }
  export interface GrepToolDetails { truncation?: TruncationResult; [member: string]: any }
  export interface FindToolDetails { truncation?: TruncationResult; [member: string]: any }
  export interface LsToolDetails { truncation?: TruncationResult; [member: string]: any }
  export type EditToolDetails = any;
  export interface ToolResultEvent extends Base { type: "tool_result"; toolName: string; toolCallId: string; input: Record<string, any>; content: Content[]; details?: any; isError: boolean; structuredContent?: any; usage?: any }
  export type CustomToolResultEvent = Omit<ToolResultEvent, "details"> & { details: unknown };
  export interface ToolResultResult { content?: Content[]; details?: any; isError?: boolean; structuredContent?: any; usage?: any }

  export interface InputEvent extends Base { type: "input"; text: string; images?: ImageContent[]; source: "interactive" | "rpc" | "extension"; streamingBehavior?: "steer" | "followUp" }
  export type InputResult = { action: "continue" } | { action: "handled" } | { action: "transform"; text: string; images?: ImageContent[] };
  export interface BeforeAgentStartEvent extends Base { type: "before_agent_start"; prompt: string; images?: ImageContent[]; messageType?: string; systemPrompt: string; systemPromptOptions: any }
  export interface BeforeAgentStartResult { message?: CustomMessage; systemPrompt?: string; systemPromptAppend?: string }

  export interface CustomMessage { customType?: string; content: string | Content[]; display?: boolean; details?: any }
  export interface Message { role: string; content: any; timestamp?: number; [key: string]: any }
  export interface MessageEntry { type: "message"; id: string; parentId?: string | null; timestamp: string; message: Message; [key: string]: any }
  export interface CompactionEntry { type: "compaction"; id?: string; timestamp: string; summary: string; firstKeptEntryIndex?: number; tokensBefore?: number; [key: string]: any }
  interface OtherEntry { type: string & {}; id: string; timestamp: string; [key: string]: any }
  export type Entry = MessageEntry | (CompactionEntry & { id: string }) | OtherEntry;

  type SessionReason = "quit" | "reload" | "new" | "resume" | "fork";
  export interface SessionStartEvent extends Base { type: "session_start"; reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }
  export interface SessionShutdownEvent extends Base { type: "session_shutdown"; reason: SessionReason; targetSessionFile?: string }
  export interface SessionInfoChangedEvent extends Base { type: "session_info_changed"; name: string | undefined }
  export interface SessionBeforeSwitchEvent extends Base { type: "session_before_switch"; reason: "new" | "resume"; targetSessionFile?: string }
  export interface SessionBeforeForkEvent extends Base { type: "session_before_fork"; entryId: string; position: "before" | "at" }
  export interface SessionCompactEvent extends Base { type: "session_compact"; compactionEntry: CompactionEntry; fromExtension: boolean; fromHook?: boolean; reason?: string; willRetry?: boolean; tokensBefore?: number }
  export interface AgentStartEvent extends Base { type: "agent_start" }
  export interface AgentEndEvent extends Base { type: "agent_end"; messages: Message[] }
  export interface AgentSettledEvent extends Base { type: "agent_settled"; aborted: boolean }
  export interface TurnStartEvent extends Base { type: "turn_start"; turnIndex: number; timestamp: number }
  export interface TurnEndEvent extends Base { type: "turn_end"; turnIndex: number; message: Message; toolResults: Message[]; outcome?: string; entries?: any[]; continue?: boolean; messageEntryId?: string; toolResultEntryIds?: string[] }
  export interface BoundaryResult { continue?: boolean; entries?: any[] }
  /** Return `{ continue: true, entries: [{ content }] }` to keep the agent going. `goingOn` says that a hook did so before. */
  export interface BeforeSettleEvent extends Base { type: "agent_before_settle"; outcome: string; goingOn?: boolean; entries?: any[]; continue?: boolean }
  /** Outside of pi `preparation` and `branchEntries` throw: only pi tells them. */
  export interface BeforeCompactEvent extends Base { type: "session_before_compact"; reason: string; willRetry?: boolean; customInstructions?: string; preparation: any; branchEntries: Entry[]; signal: AbortSignal }
  export interface UIPromptEvent extends Base { type: string; reason?: string; kind: string; title?: string }
  // --- pi only: what happens inside it. Files are asked in their order, each sees what those before it left. ---
  /** Before each call of the model. Return the messages, or change them in place. */
  export interface ContextEvent extends Base { type: string; messages: Message[] }
  /** The request as the provider gets it; what is returned takes its place. */
  export interface BeforeProviderRequestEvent extends Base { type: "before_provider_request"; payload: any }
  /** Change headers in place; null takes one out. Those that hold a key are not shown. */
  export interface BeforeProviderHeadersEvent extends Base { type: "before_provider_headers"; headers: Record<string, string | null> }
  export interface AfterProviderResponseEvent extends Base { type: "after_provider_response"; status: number; headers: Record<string, string> }
  /** A message is whole; one of the same role may take its place. */
  export interface MessageEvent extends Base { type: string; message: Message; assistantMessageEvent?: any }
  /** A command the user typed with `!`. A throw stops it. `operations` run inside pi only. */
  export interface UserBashEvent extends Base { type: "user_bash"; command: string; excludeFromContext: boolean; cwd: string }
  export interface UserBashResult { result?: { output: string; exitCode: number | undefined; cancelled: boolean; truncated: boolean; fullOutputPath?: string }; operations?: any }
  export interface BeforeTreeEvent extends Base { type: "session_before_tree"; preparation: { targetId: string; oldLeafId: string | null; entriesToSummarize: Entry[]; userWantsSummary: boolean; [key: string]: any }; signal: AbortSignal }
  export interface BeforeTreeResult { cancel?: boolean; summary?: { summary: string; details?: any }; customInstructions?: string; replaceInstructions?: boolean; label?: string }
  export interface ModelSelectEvent extends Base { type: "model_select"; model: Model; previousModel?: Model; source: string }
  export interface ToolExecutionEvent extends Base { type: string; toolCallId: string; toolName: string; args?: any; partialResult?: any; result?: any; isError?: boolean }
  interface PiEvent extends Base { type: string; [key: string]: any }

  /** The first generation's one session event. */
  export interface SessionEvent extends Base {
    type: "session";
    reason: "start" | "before_switch" | "switch" | "before_clear" | "clear" | "before_new" | "new" | "before_branch" | "branch" | "before_compact" | "compact" | "shutdown";
    entries: Entry[];
    sessionFile: string | null;
    previousSessionFile: string | null;
    /** Of before_branch and branch. */
    targetTurnIndex: number;
    /** The rest belongs to before_compact and compact; outside of pi reading it throws. */
    cutPoint: { firstKeptEntryIndex: number; isSplitTurn: boolean };
    previousSummary?: string;
    messagesToSummarize: Message[];
    messagesToKeep: Message[];
    tokensBefore: number;
    model: Model;
    resolveApiKey(model: any): Promise<string | undefined>;
    customInstructions?: string;
    signal: AbortSignal;
    compactionEntry?: CompactionEntry;
    fromHook?: boolean;
  }
  export interface SessionResult { cancel?: boolean; skipConversationRestore?: boolean; compactionEntry?: CompactionEntry }

  export interface Model { provider: string; id: string; name: string; contextWindow: number; maxTokens: number; [member: string]: any }
  export interface DialogOptions { timeout?: number; signal?: AbortSignal }
  export interface UI {
    /** The chosen option; undefined (null in the first generation) when cancelled. */
    select(title: string, options: string[], more?: DialogOptions): Promise<string | undefined>;
    confirm(title: string, message?: string, more?: DialogOptions): Promise<boolean>;
    input(title: string, placeholder?: string, more?: DialogOptions): Promise<string | undefined>;
    editor(title: string, prefill?: string): Promise<string | undefined>;
    notify(message: string, level?: "info" | "warning" | "error"): void;
    // --- pi only: elsewhere they do nothing, and `hookmux hooks list` says so. ---
    readonly theme: any;
    setStatus(key: string, text: string | undefined): void;
    setTitle(title: string): void;
    setWidget(key: string, content: string[] | ((tui: any, theme: any) => any) | undefined, options?: any): void;
    setWorkingMessage(message?: string): void;
    setWorkingVisible(visible: boolean): void;
    setWorkingIndicator(options?: any): void;
    setHiddenThinkingLabel(label?: string): void;
    setFooter(make: ((tui: any, theme: any, data: any) => any) | undefined): void;
    setHeader(make: ((tui: any, theme: any) => any) | undefined): void;
    custom<T = any>(make: (tui: any, theme: any, keybindings: any, done: (result: T) => void) => any, options?: any): Promise<T>;
    onTerminalInput(run: (data: any) => any): () => void;
    pasteToEditor(text: string): void;
    setEditorText(text: string): void;
    getEditorText(): string;
    addAutocompleteProvider(make: (...args: any[]) => any): void;
    setEditorComponent(make: ((tui: any, theme: any, keybindings: any) => any) | undefined): void;
    getEditorComponent(): any;
    getAllThemes(): { name: string; path: string | undefined }[];
    getTheme(name: string): any;
    setTheme(theme: any): { success: boolean; error?: string };
    getToolsExpanded(): boolean;
    setToolsExpanded(expanded: boolean): void;
  }
  export interface ExecOptions { cwd?: string; timeout?: number; signal?: AbortSignal; env?: Record<string, string> }
  export interface ExecResult { stdout: string; stderr: string; code: number; killed: boolean }
  export interface SessionManager {
    getEntries(): Entry[];
    getBranch(fromId?: string): Entry[];
    getLeafEntry(): Entry | undefined;
    getLeafId(): string | null;
    getEntry(id: string): Entry | undefined;
    getSessionFile(): string | undefined;
    getSessionId(): string;
    getSessionName(): string | undefined;
    getCwd(): string;
    getHeader(): any;
    getLabel(id: string): string | undefined;
    buildSessionContext(): { messages: Message[]; [member: string]: any };
    /** Only pi's own record has more. */
    [member: string]: any;
  }

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
    sessionManager: SessionManager;
    /** Fires shortly before the agent's time for this event is over. */
    signal: AbortSignal;
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    isIdle(): boolean;
    hasPendingMessages(): boolean;
    isProjectTrusted(): boolean;
    // --- pi only: elsewhere they are empty or do nothing. ---
    model: Model | undefined;
    modelRegistry: any;
    scopedModels: readonly any[];
    thinkingLevel?: any;
    getContextUsage(): any;
    getSystemPrompt(): string;
    abort(): void;
    shutdown(): void;
    compact(options?: { customInstructions?: string; onComplete?: (result: any) => void; onError?: (error: any) => void }): void;
  }
  export interface CommandContext extends Context {
    getSystemPromptOptions(): any;
    waitForIdle(): Promise<void>;
    newSession(options?: any): Promise<{ cancelled: boolean }>;
    fork(entryId: string, options?: any): Promise<{ cancelled: boolean }>;
    navigateTree(targetId: string, options?: any): Promise<{ cancelled: boolean }>;
    switchSession(path: string, options?: any): Promise<{ cancelled: boolean }>;
    reload(): Promise<void>;
  }

  /** What a handler is given, and what it may return. */
  export interface Events {
    tool_call: [ToolCallEvent, ToolCallResult];
    tool_result: [ToolResultEvent, ToolResultResult];
    input: [InputEvent, InputResult];
    before_agent_start: [BeforeAgentStartEvent, BeforeAgentStartResult];
    session_start: [SessionStartEvent, void];
    session_shutdown: [SessionShutdownEvent, void];
    session_info_changed: [SessionInfoChangedEvent, void];
    agent_start: [AgentStartEvent, void];
    agent_end: [AgentEndEvent, void];
    agent_settled: [AgentSettledEvent, void];
    agent_before_settle: [BeforeSettleEvent, BoundaryResult];
    turn_start: [TurnStartEvent, void];
    /** In pi `{ entries, continue }` may be returned. */
    turn_end: [TurnEndEvent, BoundaryResult];
    session_before_compact: [BeforeCompactEvent, { cancel?: boolean; compaction?: any }];
    session_compact: [SessionCompactEvent, void];
    ui_prompt_start: [UIPromptEvent, void];
    tool_execution_start: [ToolExecutionEvent, void];
    tool_execution_end: [ToolExecutionEvent, void];
    /** The generation of hooks has one event for all that happens to a session. */
    session: [SessionEvent, SessionResult];
    /** The second generation's names. */
    session_switch: [PiEvent, void];
    session_branch: [PiEvent, void];
    session_before_branch: [PiEvent, { cancel?: boolean; skipConversationRestore?: boolean }];
    // --- pi only ---
    session_before_switch: [SessionBeforeSwitchEvent, { cancel?: boolean }];
    session_before_fork: [SessionBeforeForkEvent, { cancel?: boolean; skipConversationRestore?: boolean }];
    session_before_tree: [BeforeTreeEvent, BeforeTreeResult];
    session_tree: [PiEvent, void];
    session_compact_failed: [PiEvent, void];
    context: [ContextEvent, { messages?: Message[] }];
    context_with_system: [ContextEvent, { messages?: Message[] }];
    before_provider_request: [BeforeProviderRequestEvent, any];
    before_provider_headers: [BeforeProviderHeadersEvent, void];
    after_provider_response: [AfterProviderResponseEvent, void];
    provider_stream_event: [PiEvent, void];
    cache_warming_decision: [PiEvent, any];
    message_start: [MessageEvent, void];
    message_update: [MessageEvent, void];
    message_end: [MessageEvent, { message?: Message }];
    tool_execution_update: [ToolExecutionEvent, void];
    user_bash: [UserBashEvent, UserBashResult];
    model_select: [ModelSelectEvent, void];
    thinking_level_select: [PiEvent, void];
    mcp_servers_change: [PiEvent, void];
    input_end: [PiEvent, void];
    ui_prompt_end: [UIPromptEvent, void];
    resources_discover: [Base & { type: "resources_discover"; cwd: string; reason: string }, { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] }];
    project_trust: [Base & { type: "project_trust"; cwd: string }, { trusted: "yes" | "no" | "undecided"; remember?: boolean }];
  }

  type Answer<N extends keyof Events> = Events[N][1] | void | undefined | null;
  export type Handler<N extends keyof Events> = (event: Events[N][0], ctx: Context) => Answer<N> | Promise<Answer<N>>;
  // The members of what a handler returns that mean nothing at its event. The engine
  // refuses them: a guard that returns { blok: true } must not let the call pass.
  type KeysOf<T> = T extends unknown ? keyof T : never;
  type Meaningless<R, T> = 0 extends 1 & R ? never : 0 extends 1 & T ? never : R extends object ? Exclude<keyof R, KeysOf<T>> : never;
  type Checked<R, T> = [Meaningless<Awaited<R>, T>] extends [never] ? unknown : { "this member is not known at this event": Meaningless<Awaited<R>, T> };

  export interface ToolDefinition<P = any> {
    name: string;
    label?: string;
    description: string;
    parameters: P;
    promptSnippet?: string;
    promptGuidelines?: string[];
    execute(toolCallId: string, params: import("typebox").Static<P>, signal: AbortSignal | undefined, onUpdate: any, ctx: Context): any;
    renderCall?(args: any, theme: any, context: any): any;
    renderResult?(result: any, options: any, theme: any, context: any): any;
    [member: string]: any;
  }
  export interface HookAPI {
    on<N extends keyof Events, H extends Handler<N>>(name: N, run: H & Checked<ReturnType<H>, Events[N][1]>): () => void;
    /** Into this session: at once where the agent has a channel, else as context at its next event. */
    send(text: string, attachments?: any[]): void;
    sendMessage(message: CustomMessage, options?: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" }): void;
    sendUserMessage(content: string | Content[], options?: { deliverAs?: "steer" | "followUp"; expandPromptTemplates?: boolean }): void;
    exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
    /** The agent's name in hookmux. */
    readonly agent: string;
    events: { on(name: string, run: (data: any) => void): () => void; emit(name: string, data?: any): void };
    appendEntry<T = any>(customType: string, data?: T): void;
    // --- pi only: elsewhere they do nothing, and `hookmux hooks list` says so. ---
    registerTool<P = any>(tool: ToolDefinition<P>): void;
    registerCommand(name: string, options: { description?: string; handler(args: string, ctx: CommandContext): any; getArgumentCompletions?(prefix: string): any; [member: string]: any }): void;
    registerFlag(name: string, options?: { description?: string; type?: "boolean" | "string"; default?: any }): void;
    registerShortcut(key: string, options: { description?: string; handler(ctx: Context): any }): void;
    registerMessageRenderer<T = any>(customType: string, render: (message: any, options: any, theme: any) => any): void;
    registerEntryRenderer<T = any>(customType: string, render: (entry: any, options: any, theme: any) => any): void;
    registerMarkdownTransformer(transform: (...args: any[]) => any): void;
    registerProvider(provider: any, config?: any): void;
    unregisterProvider(name: string): void;
    getFlag(name: string): any;
    getCommands(): any[];
    getActiveTools(): string[];
    getAllTools(): { name: string; description: string; parameters: any; [member: string]: any }[];
    setActiveTools(names: string[]): void;
    getSessionName(): string | undefined;
    setSessionName(name: string): void;
    setLabel(entryId: string, label: string | undefined): void;
    setModel(model: any): Promise<boolean>;
    getThinkingLevel(): any;
    setThinkingLevel(level: any): void;
    registerVirtualModel<T = any>(model: any): void;
  }

  type Guard<N extends string, D> = Omit<ToolResultEvent, "details"> & { toolName: N; details: D | undefined };
  type AnyResult = ToolResultEvent | CustomToolResultEvent;
  export function isBashToolResult(event: AnyResult): event is Guard<"bash", BashToolDetails>;
  export function isReadToolResult(event: AnyResult): event is Guard<"read", ReadToolDetails>;
  export function isEditToolResult(event: AnyResult): event is Guard<"edit", any>;
  export function isWriteToolResult(event: AnyResult): event is Guard<"write", any>;
  export function isGrepToolResult(event: AnyResult): event is Guard<"grep", GrepToolDetails>;
  export function isFindToolResult(event: AnyResult): event is Guard<"find", FindToolDetails>;
  export function isLsToolResult(event: AnyResult): event is Guard<"ls", LsToolDetails>;
  export const version: string;
}

// --- pi's packages: what hooks import from them ----------------------------------------

declare module "hookmux/pi-agent" {
  import type * as own from "hookmux";
  export * from "hookmux";
  export type ExtensionAPI = own.HookAPI;
  export type ExtensionContext = own.Context;
  export type ExtensionCommandContext = own.CommandContext;
  export type ExtensionUIContext = own.UI;
  export type HookContext = own.Context;
  export type HookEventContext = own.Context;
  export type HookUIContext = own.UI;
  export type HookCommandContext = own.CommandContext;
  export type SessionEntry = own.Entry;
  export type SessionMessageEntry = own.MessageEntry;
  export type ToolCallEventResult = own.ToolCallResult;
  export type ToolResultEventResult = own.ToolResultResult;
  export type InputEventResult = own.InputResult;
  export type UserBashEventResult = own.UserBashResult;
  export type SessionEventResult = own.SessionResult;
  export type ProjectTrustEventResult = own.Events["project_trust"][1];
  export type SessionBeforeCompactEvent = own.BeforeCompactEvent;
  export type SessionBeforeTreeEvent = own.BeforeTreeEvent;
  export const findModel: any, messageTransformer: any, convertToLlm: any, createBashTool: any,
    createBashToolDefinition: any, createEditTool: any, createEditToolDefinition: any, createFindTool: any,
    createFindToolDefinition: any, createGrepTool: any, createGrepToolDefinition: any, createLsTool: any,
    createLsToolDefinition: any, createReadTool: any, createReadToolDefinition: any, createWriteTool: any,
    createWriteToolDefinition: any, formatReadLineRange: any, formatSize: any, getAgentDir: any,
    getMarkdownTheme: any, getSettingsListTheme: any, serializeConversation: any,
    truncateHead: any, truncateTail: any, truncateLine: any, withFileMutationQueue: any, VERSION: any,
    CONFIG_DIR_NAME: any, DEFAULT_MAX_BYTES: any, DEFAULT_MAX_LINES: any;
  export function defineTool<P = any>(tool: import("hookmux").ToolDefinition<P>): import("hookmux").ToolDefinition<P>;
  export function parseFrontmatter<T = any>(text: string): { frontmatter: T; body: string };
  export class BorderedLoader { constructor(...args: any[]); [member: string]: any }
  export class CustomEditor { constructor(...args: any[]); [member: string]: any }
  export class DynamicBorder { constructor(...args: any[]); [member: string]: any }
  export class KeybindingsManager { constructor(...args: any[]); [member: string]: any }
  export class Theme { constructor(...args: any[]); [member: string]: any }
  export type BashOperations = any; export type BuildSystemPromptOptions = any; export type EditOperations = any;
  export type FindOperations = any; export type GrepToolInput = any; export type LsOperations = any;
  export type ModelRoute<T = any> = any; export type ModelRouteRequest<T = any> = any; export type ReadOperations = any;
  export type SlashCommandInfo = any; export type ToolExecutionMode = any; export type ToolInfo = any;
  export type WorkingIndicatorOptions = any; export type WriteOperations = any;
}
declare module "@mariozechner/pi-coding-agent/hooks" { export * from "hookmux/pi-agent"; }
declare module "@mariozechner/pi-coding-agent" { export * from "hookmux/pi-agent"; }
declare module "@earendil-works/pi-coding-agent" { export * from "hookmux/pi-agent"; }
declare module "hookmux/pi-ai" {
  export { Type } from "typebox";
  export function StringEnum<const T extends readonly string[]>(values: T, options?: any): import("typebox").Schema<T[number]>;
  export class ToolCallArgumentsStream { constructor(...args: any[]); [member: string]: any }
  export const calculateCost: any, collapseSystemMessages: any, complete: any,
    completeSimple: any, stream: any, streamSimple: any, getModel: any, createAssistantMessageEventStream: any,
    getCurrentSystemPrompt: any, getCurrentTools: any, uuidv7: any, anthropicMessagesApi: any,
    openAIResponsesApi: any, registerApiProvider: any;
  export type Api = any; export type AgentMessage = any; export type AppMessage = any;
  export type AssistantMessage = any; export type AssistantMessageEvent = any;
  export type AssistantMessageEventStream = any; export type Attachment = any; export type Context = any;
  export type ImageContent = any; export type Message = any; export type OAuthCredentials = any;
  export type OAuthLoginCallbacks = any; export type SimpleStreamOptions = any; export type StopReason = any;
  export type TextContent = any; export type ThinkingContent = any; export type ThinkingLevel = any;
  export type ThinkingLevelMap = any; export type ToolCall = any;
  export type ToolResultMessage = any; export type TranscriptContext = any; export type Usage = any;
  export type UserMessage = any;
  export type Model<A = any> = any;
  export type Tool<P = any> = any;
  export type AgentToolResult<D = any> = any;
}
declare module "@mariozechner/pi-ai" { export * from "hookmux/pi-ai"; }
declare module "@earendil-works/pi-ai" { export * from "hookmux/pi-ai"; }
declare module "@earendil-works/pi-ai/compat" { export * from "hookmux/pi-ai"; }
declare module "@earendil-works/pi-agent-core" { export * from "hookmux/pi-ai"; }
declare module "@mariozechner/pi-agent-core" { export * from "hookmux/pi-ai"; }
declare module "hookmux/pi-tui" {
  export const CURSOR_MARKER: any, Key: any, fuzzyFilter: any, isKeyRelease: any, matchesKey: any, parseKey: any,
    renderFakeCursor: any, truncateToWidth: any, visibleWidth: any, wrapTextWithAnsi: any;
  export class Box { constructor(...args: any[]); [member: string]: any }
  export class Container { constructor(...args: any[]); [member: string]: any }
  export class Editor { constructor(...args: any[]); [member: string]: any }
  export class Input { constructor(...args: any[]); [member: string]: any }
  export class Markdown { constructor(...args: any[]); [member: string]: any }
  export class SelectList { constructor(...args: any[]); [member: string]: any }
  export class SettingsList { constructor(...args: any[]); [member: string]: any }
  export class Spacer { constructor(...args: any[]); [member: string]: any }
  export class Text { constructor(...args: any[]); [member: string]: any }
  export class TUI { constructor(...args: any[]); [member: string]: any }
  export type AutocompleteItem = any; export type AutocompleteProvider = any;
  export type AutocompleteSuggestions = any; export type Component = any; export type EditorTheme = any;
  export type Focusable = any; export type OverlayAnchor = any; export type OverlayHandle = any;
  export type OverlayOptions = any; export type SelectItem = any; export type SettingItem = any;
}
declare module "@mariozechner/pi-tui" { export * from "hookmux/pi-tui"; }
declare module "@earendil-works/pi-tui" { export * from "hookmux/pi-tui"; }
declare module "@sinclair/typebox" {
  export interface Schema<T = any> { readonly is: T; [member: string]: any }
  export interface Maybe<T = any> extends Schema<T> { readonly maybe: true }
  export type TSchema = Schema;
  export type Static<S> = 0 extends 1 & S ? any : S extends Schema<infer T> ? T : any;
  type Shape = Record<string, Schema>;
  type Fields<P extends Shape> = { [K in keyof P as P[K] extends Maybe ? never : K]: Static<P[K]> } & { [K in keyof P as P[K] extends Maybe ? K : never]?: Static<P[K]> };
  export const Type: {
    Object<P extends Shape>(fields: P, options?: any): Schema<Fields<P>>;
    Array<S extends Schema>(items: S, options?: any): Schema<Static<S>[]>;
    Optional<S extends Schema>(schema: S): Maybe<Static<S>>;
    Union<S extends Schema[]>(list: [...S], options?: any): Schema<Static<S[number]>>;
    Literal<const L extends string | number | boolean>(value: L, options?: any): Schema<L>;
    Record<V extends Schema>(key: Schema, value: V, options?: any): Schema<Record<string, Static<V>>>;
    String(options?: any): Schema<string>;
    Number(options?: any): Schema<number>;
    Integer(options?: any): Schema<number>;
    Boolean(options?: any): Schema<boolean>;
    Null(options?: any): Schema<null>;
    Any(options?: any): Schema<any>;
    Unknown(options?: any): Schema<unknown>;
    Unsafe<T>(options?: any): Schema<T>;
    [member: string]: any;
  };
  export const Kind: any;
}
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
    matchesGlob(path: string, pattern: string): boolean;
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
    rmdirSync(path: string): void;
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
  export const unlinkSync: FS["unlinkSync"], rmdirSync: FS["rmdirSync"], renameSync: FS["renameSync"], copyFileSync: FS["copyFileSync"], realpathSync: FS["realpathSync"], chmodSync: FS["chmodSync"], watch: FS["watch"];
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
declare var Buffer: { from(data: any, encoding?: string): Buffer; concat(list: Uint8Array[]): Buffer; alloc(size: number): Buffer; byteLength(text: string, encoding?: string): number; [member: string]: any };
declare var process: { env: Record<string, string | undefined>; cwd(): string; platform: string; pid: number; argv: string[]; [member: string]: any };
declare var require: (name: string) => any;
declare namespace NodeJS {
  interface ProcessEnv { [name: string]: string | undefined }
  interface Timeout {}
}
