/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The part of the OpenAPI document that describes one part of the service. */
export interface OpenApiPart {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** Operations by path template and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: Readonly<Record<string, JsonSchema>>
}

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** An object whose properties are all there, but for the optional ones. */
export const objectOf = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })

/** The success envelope (specification 4.1) around `data`. */
export const successOf = (data: JsonSchema): JsonSchema => objectOf({ success: { const: true }, data })

export const jsonContent = (schema: JsonSchema, examples: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  'application/json': { schema, examples },
})
