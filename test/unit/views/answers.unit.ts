import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withComponents } from '../../../shared/openapi/document.ts'
import { viewsPart } from '../../../views/api/openapi.ts'
import { ROUTES } from '../../../views/api/routes.ts'
import { applicationLog, at, eventLog, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

/** The schemas as the document has them, but that no object may have more than it names. */
const closed = JSON.parse(JSON.stringify(withComponents(viewsPart.paths)), (_key, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
)
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ components: { schemas: closed.schemas } }, 'views')

const jsonRoutes = ROUTES.filter((route) => 'answer' in route).map((route) => route.path)

let views: ViewsFixture
let ids: Record<string, string>
beforeAll(async () => {
  views = await startViews()
  const event = eventLog({ correlationKey: 'k', step: 'order.pay', level: 'Critical' })
  const application = applicationLog({
    correlationKey: 'k',
    exception: 'boom',
    scopeData: { a: { b: [1] } },
    originalLevel: 'Fatal',
  })
  ids = { 'event-logs': event.id, 'application-logs': application.id }
  views.store.add(
    event,
    application,
    eventLog({ event: null, step: 'gone', timestamp: at(1) }),
    applicationLog({ timestamp: at(-1), project: '3f2504e0-4f89-11d3-9a0c-0305e82c33ff' }),
    eventLog({ correlationKey: 'l', event: 'gone' }),
  )
})
afterAll(() => views.close())

describe('answers have exactly the fields that the OpenAPI document names, null where there is no value', () => {
  test.each(jsonRoutes.flatMap((path) => [path, `${path}?limit=1`, `${path}?q=${encodeURIComponent('(pay')}`]))(
    '%s',
    async (path) => {
      const folder = path.split('/')[2]?.split('?')[0] ?? ''
      const own = path
        .replace(':id', ids[folder] ?? '')
        .replace(':correlationKey', 'k')
        .replace(':other', 'l')
      const answer = await views.get(own)
      if (answer.status === 400) return expect(answer.error.message).toContain('is not a parameter')
      const template = path.split('?')[0]?.replaceAll(/:(\w+)/g, '{$1}') ?? ''
      const { schema } = closed.paths[template].get.responses['200'].content['application/json']
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"views#/')))
      const body = JSON.parse(answer.text)
      expect([validate(body) ? [] : validate.errors, body]).toEqual([[], body])
    },
  )
})
