import { GATEWAY_PLACEHOLDER as GATEWAY, KEY_PLACEHOLDER as KEY } from '../details/placeholders.ts'
import type { Snippets } from '../schemas/team.ts'
import type { Kind } from './changes.ts'

/**
 * A literal that is valid in JSON, JavaScript, C# and Python alike: non-ASCII characters, and those that a shell, its line editor or markup
 * would interpret, are escaped.
 */
const literal = (text: string): string =>
  JSON.stringify(text).replace(
    /[^\x20-\x7e]|['<&$`!]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Code that sends one log to an Event or a Step by its identifier, or to a Project by its id; ready to be pasted once the gateway's address
 * and a key are filled in.
 */
export function snippetsOf(kind: Kind, id: string): Snippets['snippets'] {
  const isProject = kind === 'project'
  const fields: readonly (readonly [name: string, value: string])[] = [
    ['uniqueIdentifier', literal(id)],
    ...(isProject
      ? ([
          ['categoryName', '"Shop.Checkout"'],
          ['message', '"Order 4711 was placed"'],
        ] as const)
      : ([['payload', '"Order 4711 was placed"']] as const)),
    ['level', '"Information"'],
    ['correlationKey', '"order-4711"'],
  ]
  const url = `${GATEWAY}/api/${isProject ? 'ApplicationLogs' : 'ExternalLogs'}`
  const lines = (quote: string, assign: string): string =>
    fields.map(([name, value]) => `${quote}${name}${quote}${assign} ${value},`).join('\n    ')
  const json = lines('"', ':').replace(/,$/, '')
  return [
    {
      id: 'curl',
      name: 'cURL',
      code: `curl '${url}' \\
  -H 'X-API-Key: ${KEY}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    ${json}
  }'`,
    },
    {
      id: 'csharp',
      name: 'C#',
      code: `using System.Net.Http.Json;

using var http = new HttpClient();
http.DefaultRequestHeaders.Add("X-API-Key", "${KEY}");
var response = await http.PostAsJsonAsync("${url}", new
{
    ${lines('', ' =')}
});
// The status is 200 either way: "success" tells.
Console.WriteLine(await response.Content.ReadAsStringAsync());`,
    },
    {
      id: 'typescript',
      name: 'TypeScript',
      code: `const response = await fetch('${url}', {
  method: 'POST',
  headers: { 'X-API-Key': '${KEY}', 'Content-Type': 'application/json' },
  body: JSON.stringify({
    ${lines('', ':')}
  }),
})
// The status is 200 either way: "success" tells.
console.log(await response.json())`,
    },
    {
      id: 'python',
      name: 'Python',
      code: `import json, urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"X-API-Key": "${KEY}", "Content-Type": "application/json"},
    data=json.dumps({
    ${lines('"', ':').replaceAll('\n', '\n    ')}
    }).encode(),
)
# The status is 200 either way: "success" tells.
print(urllib.request.urlopen(request).read().decode())`.replace('({\n    "', '({\n        "'),
    },
  ]
}
