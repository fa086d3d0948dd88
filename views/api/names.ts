import type { EntryKind } from '../../shared/contract/records.ts'
import type { GroupField } from '../../shared/log-store/log-store.ts'
import type { Query } from '../../shared/query/ast.ts'
import { type Entity, isInUse, type Registry, type StepEntity } from '../../shared/registry/registry.ts'
import type { EntityRef, ProjectRef } from '../schemas/answers.ts'
import { withNames } from '../search/names-in-query.ts'

/** The registry's current names for the identifiers in a Team's entries. */
export interface Names {
  event(identifier: string): EntityRef
  step(identifier: string): EntityRef
  project(id: string): ProjectRef
  /** The query, extended so that its words also match entries by these names; `kinds` as in `EntryFilter`. */
  inQuery(query: Query, kinds: readonly EntryKind[]): Query
  /** The Event's Steps in order; null for the Steps without an Event. */
  stepsOf(event: string | null): readonly StepEntity[]
  /** The Events that have Steps in use, each with all of its Steps in order. */
  processes(): readonly (readonly [event: string, steps: readonly StepEntity[]])[]
}

/**
 * Names for one Team. An identifier may have moved to another Team, or from an Event to a Step; the new owner's name is not used for the
 * Team's old entries.
 */
export function createNames(registry: Registry, team: string): Names {
  // Cached, because a list of flows asks for the same Events repeatedly, and a Team may have many Steps.
  let byEvent: Map<string | null, StepEntity[]> | undefined
  const entityName = (kind: Entity['kind'], identifier: string): string | null => {
    const entity = registry.entity(identifier)
    return entity?.team === team && entity.kind === kind ? entity.name : null
  }
  const stepsByEvent = (): ReadonlyMap<string | null, readonly StepEntity[]> => {
    byEvent ??= Map.groupBy(
      registry.stepsOf(team).toSorted((a, b) => a.order - b.order),
      (step) => step.event,
    )
    return byEvent
  }
  return {
    event: (identifier) => ({ identifier, name: entityName('event', identifier) }),
    step: (identifier) => ({ identifier, name: entityName('step', identifier) }),
    project: (id) => {
      const project = registry.project(id)
      return { id, name: project?.team === team ? project.name : null }
    },
    inQuery: (query, kinds) => withNames(query, team, kinds, registry),
    stepsOf: (event) => stepsByEvent().get(event) ?? [],
    processes: () =>
      [...stepsByEvent()].flatMap(([event, steps]) => (event === null || !steps.some(isInUse) ? [] : [[event, steps]])),
  }
}

/** Whether the values of a field are identifiers, for which the registry has names. */
export const isNamed = (field: GroupField): field is 'event' | 'step' | 'project' =>
  field === 'event' || field === 'step' || field === 'project'

/** The registry's name for a value of a field, else the value. */
export const nameOf = (field: GroupField, value: string, names: Names): string =>
  (isNamed(field) ? names[field](value).name : null) ?? value
