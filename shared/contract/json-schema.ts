/**
 * A JSON Schema (2020-12), as OpenAPI 3.1 uses it. Wherever a schema with an `$id` is part of another, the OpenAPI document refers to one
 * component of that name.
 */
export type JsonSchema = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, JsonSchema>>
export type NamedSchema = JsonSchema & { readonly $id: string }

/** The type of the values that a schema accepts, inferred from the keywords that are used here. */
export type Static<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer One)[] } | { readonly oneOf: readonly (infer One)[] }
      ? Static<One>
      : Schema extends { readonly properties: infer Properties; readonly required: readonly (infer Name)[] }
        ? StaticObject<Properties, Name>
        : Schema extends { readonly properties: infer Properties }
          ? StaticObject<Properties, never>
          : Schema extends { readonly items: infer Items }
            ? readonly Static<Items>[]
            : Schema extends { readonly additionalProperties: infer Value }
              ? Readonly<Record<string, Static<Value>>>
              : Schema extends { readonly type: infer Name | readonly (infer Name)[] }
                ? StaticOf[Name & keyof StaticOf]
                : unknown

type StaticObject<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: Static<Properties[Name]>
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: Static<Properties[Name]>
}

interface StaticOf {
  readonly string: string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
  readonly null: null
  readonly object: Readonly<Record<string, unknown>>
}

export const text = { type: 'string' } as const
export const optionalText = { type: ['string', 'null'] } as const
export const flag = { type: 'boolean' } as const
/** A text that is not empty. */
export const filledText = { type: 'string', minLength: 1 } as const
/** A canonical timestamp: UTC, `Z`, 3 to 9 fraction digits. */
export const time = { type: 'string', format: 'date-time' } as const

/** The `$schema` of the schemas that are published. */
export const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** An object whose properties are all required, except the optional ones. */
export const objectOf = <const All extends Properties, const Optional extends keyof All & string = never>(
  properties: All,
  optional: readonly Optional[] = [],
) => {
  const isRequired = (name: string): name is Exclude<keyof All & string, Optional> =>
    !(optional as readonly string[]).includes(name)
  return { type: 'object', required: Object.keys(properties).filter(isRequired), properties } as const
}

/** The same with a title, for the schemas of records; further properties are allowed. */
export const titled = <
  const Required extends Properties,
  const Optional extends Properties = Record<never, JsonSchema>,
>(
  title: string,
  properties: Required,
  optional: Optional = {} as Optional,
) =>
  ({
    title,
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties) as (keyof Required)[],
  }) as const

export const arrayOf = <const Items>(items: Items) => ({ type: 'array', items }) as const

export const nullable = <const Schema>(schema: Schema) => ({ anyOf: [schema, { type: 'null' }] }) as const

/** The schema with a description for people. */
export const described = <const Schema extends JsonSchema>(schema: Schema, description: string) =>
  ({ ...schema, description }) as const

/** A component of the OpenAPI document. */
export const named = <const Schema extends JsonSchema>(
  name: string,
  schema: Schema,
  description?: string,
): Schema & { readonly $id: string } => ({ $id: name, ...schema, ...(description !== undefined && { description }) })

/** An object, whose properties are all required, as a component of the OpenAPI document. */
export const component = <const All extends Properties>(name: string, properties: All) =>
  named(name, objectOf(properties))

/** A schema with a type given by the caller, as `Static` cannot infer it. */
export const typed = <Value>(schema: JsonSchema) => schema as { readonly const: Value }
