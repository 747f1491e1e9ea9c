import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ProblemCode, problemCatalogue } from '../../src/lib/problem.ts'
import { problemAdvice } from '../../src/lib/problem-advice.ts'
import { root } from '../support/process.ts'

/** The page of errors, from the code that gives them. */
function errorPage(): string {
  const codes = (Object.keys(problemCatalogue) as ProblemCode[]).sort(
    (one, other) =>
      problemCatalogue[one][0] - problemCatalogue[other][0] || one.localeCompare(other),
  )
  const rows = codes.map((code) => {
    const [status, title] = problemCatalogue[code]
    const again = [408, 429].includes(status) || status >= 500 ? 'yes' : 'no'
    return `| ${status} | \`${code}\` | ${title} | ${again} | ${problemAdvice[code]} |`
  })
  return `# Errors

Every refusal is \`application/problem+json\` (RFC 9457): \`type\`, \`title\`, \`status\`, \`detail\`, \`code\`,
\`request_id\` and, where fields are wrong, \`errors\` with each \`field\` and \`message\`. Programs look at \`code\`,
which does not change; \`detail\` is for people and may.

"Again" says whether the same request may succeed later. **Only a 4xx to the first request with a \`refId\`
proves that there is no order.** After 408, 429, a 5xx or no answer, repeat the same request, with a fresh
\`timestamp\` and signature.

| Status | Code | Title | Again | What to do |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

An example:

\`\`\`json
{
  "type": "urn:sluice:problem:invalid_request",
  "title": "${problemCatalogue.invalid_request[1]}",
  "status": ${problemCatalogue.invalid_request[0]},
  "detail": "Correct amount and send the request again.",
  "code": "invalid_request",
  "request_id": "req_4f0c2a7be1d94a55a3d6c1b0e8f7a912",
  "errors": [{ "field": "amount", "message": "must be a whole JSON number from 1 to 1000000000000" }]
}
\`\`\`
`
}

test('docs/errors.md lists every code with what to do, as the code has them', async () => {
  const path = 'docs/errors.md'
  const text = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: errorPage(),
    encoding: 'utf8',
  })
  await expect(text).toMatchFileSnapshot(join(root, path))
})
