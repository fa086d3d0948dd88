/** A field of a form; one that is left empty is left out of the body. */
export interface Field {
  readonly name: string
  readonly label: string
  /** The member of the line that its value begins with. */
  readonly from?: 'id' | 'name'
  readonly hint?: string
  readonly required?: boolean
}

/** A change that can be made: the request, and what a person is asked for it. Without a text and fields nothing is asked. */
export interface Action {
  /** What begins it is called. */
  readonly name: string
  readonly title: string
  /** What the button says that makes it. */
  readonly action: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Below the base path; where it is left out, that of the line. */
  readonly path?: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly fields?: readonly Field[]
  readonly text?: string
  /** Whether it cannot be undone. */
  readonly isDanger?: boolean
  /** Why it cannot be made now. */
  readonly refused?: string
  /** What is said once it is made. */
  readonly done: string
}

/** One of what the Team owns. */
export interface Line {
  readonly id: string
  /** What people call it; null where that is the id. */
  readonly name: string | null
  /** Where the API has it, below the base path. */
  readonly path: string
  /** Whether it belongs to the Event above. */
  readonly below: boolean
  readonly state: 'live' | 'archived' | 'revoked'
  /** When it was last seen, or made; null where that is not known. */
  readonly at: string | null
  /** More about that time, and what stands for one that is not known. */
  readonly about: string
  /** Whether there is code that sends to it, which `/snippets` below its path gives. */
  readonly snippets: boolean
  /** The names of those of its list's changes that can be made to it. */
  readonly changes: readonly string[]
}

export interface List {
  readonly title: string
  /** What the lines have: a name, a time and what can be done. */
  readonly columns: readonly [name: string, time: string]
  /** What it is for, where there is no line. */
  readonly empty: string
  readonly lines: readonly Line[]
  /** The changes that can be made to lines: here once, as there may be thousands of lines. */
  readonly changes: Readonly<Record<string, Action>>
  /** Other actions, such as to make a new one. */
  readonly actions: readonly Action[]
  /** The options of fields, by their names; a field without any is typed. */
  readonly options: Readonly<Record<string, readonly (readonly [value: string, name: string])[]>>
}

/** What `GET /api/team/lists` tells. */
export interface TeamLists {
  readonly lists: readonly List[]
  /** Where code is that sends a first log of each kind; null where there is nothing to send to. */
  readonly targets: Readonly<Record<'event' | 'application' | 'flow', string | null>>
}
