/** A change that a person can make to what the Team owns; the page has the words for each. */
export type ActionKind =
  | 'newEvent'
  | 'newStep'
  | 'newProject'
  | 'newKey'
  | 'replaceKeys'
  | 'rename'
  | 'archive'
  | 'restore'
  | 'revoke'

/** A field of a form; one that is left empty is left out of the body. */
export interface Field {
  readonly name: 'name' | 'identifier' | 'id' | 'event'
  /** The member of the line that its value begins with. */
  readonly from?: 'id' | 'name'
  readonly required?: boolean
}

/** The request that makes a change, and the fields to ask a person for. */
export interface Action {
  readonly kind: ActionKind
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Below the base path; where it is left out, that of the line. */
  readonly path?: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly fields?: readonly Field[]
  /** Whether it cannot be undone. */
  readonly isDanger?: boolean
  /** Whether it would be refused now. */
  readonly isRefused?: boolean
}

/** An Event, Step, Project or key of the Team. */
export interface Line {
  readonly kind: 'event' | 'step' | 'project' | 'key'
  /** The identifier, the Project's id, or the first characters of the key. */
  readonly id: string
  /** Null for a key. */
  readonly name: string | null
  /** Its path in the API, below the base path. */
  readonly path: string
  /** Whether it belongs to the Event above. */
  readonly below: boolean
  readonly state: 'live' | 'archived' | 'revoked'
  /** The latest entry of the last 24 hours, or when the key was made; null where that is not known. */
  readonly at: string | null
  /** Entries of the last 24 hours; null for a key, and where that is not known. */
  readonly lastDay: number | null
  /** Whether there is code that sends to it, which `/snippets` below its path gives. */
  readonly snippets: boolean
  /** The changes that can be made to it; its list describes them. */
  readonly changes: readonly ActionKind[]
}

export interface List {
  readonly kind: 'entities' | 'projects' | 'keys'
  readonly lines: readonly Line[]
  /** The changes that can be made to lines: here once, as there may be thousands of lines. */
  readonly changes: Readonly<Partial<Record<ActionKind, Action>>>
  /** Changes that need no line, such as a new one. */
  readonly actions: readonly Action[]
  /** The options of fields, by their names; a field without any is typed. */
  readonly options: Readonly<Record<string, readonly (readonly [value: string, name: string])[]>>
}

/** The answer of `GET /api/team/lists`. */
export interface TeamLists {
  readonly lists: readonly List[]
  /** The paths of code that sends a first log of each kind; null where there is nothing to send to. */
  readonly targets: Readonly<Record<'event' | 'application' | 'flow', string | null>>
}
