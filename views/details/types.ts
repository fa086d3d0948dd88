/** A named value of an entry. */
export interface WholeValue {
  readonly name: string
  readonly text: string
  /** The search that finds the entries which share it, such as `level:Error`; null where no search does. */
  readonly term: string | null
}

/** The same as it is shown. */
export interface NamedValue extends WholeValue {
  /** Whether an ellipsis stands for the end of the name or of the text. */
  readonly cut: boolean
}

/** A value of the scopes: an inner scope's wins over those of the scopes around it. */
export interface ScopeValue extends NamedValue {
  /** What the scopes around it gave for the same name, the nearest first. */
  readonly hidden: readonly string[]
}

/** An exception as it was read from its text: itself first, then what caused it. */
export interface ParsedException {
  /** How far inside other exceptions it stands. */
  readonly depth: number
  /** Empty where the text does not begin with a type. */
  readonly type: string
  readonly message: string
  readonly frames: readonly Frame[]
  /** What its writer says was left out of the trace, such as `... 12 more`; else empty. */
  readonly omitted: string
}

export interface Frame {
  /** What was called; empty where only the place is given. */
  readonly call: string
  /** File and line, or empty. */
  readonly place: string
  /** Lines below it that are no frames, such as Python's source line. */
  readonly note: string
  /** Whether it belongs to a runtime, a framework or a library rather than to the program. */
  readonly framework: boolean
  /** Whether it is the exception's first frame that is the program's own. */
  readonly firstOwn: boolean
}

/**
 * What can be read from an entry beyond its fields as they stand. All texts together are bounded: those that are too long end with an
 * ellipsis, and `more` tells where something was cut or left out.
 */
export interface EntryDetails {
  /** The fields that it has whatever its payload and scopes hold. */
  readonly fields: readonly NamedValue[]
  /** A payload that is JSON: laid out, and its first values; null for others. */
  readonly payload: { readonly text: string; readonly values: readonly NamedValue[]; readonly more: boolean } | null
  /** The sentences of its scopes, the outermost first, and the values that hold after all of them. */
  readonly scopes: {
    readonly stack: readonly string[]
    readonly values: readonly ScopeValue[]
    readonly more: boolean
  } | null
  readonly exception: { readonly parts: readonly ParsedException[]; readonly more: boolean } | null
  /**
   * The command that sends it again; `<GATEWAY>` and `<API_KEY>` stand for the gateway's URL and the Team's key. Null where the entry is
   * too long for a command.
   */
  readonly curl: string | null
}
