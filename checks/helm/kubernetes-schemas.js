import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the description of the API calls texts, but is a number as well. */
const looser = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
}

/**
 * Makes the schemas that kubeconform reads, one file per kind, of the description of its API that Kubernetes
 * itself publishes. They are strict: a field that the API does not know is an error.
 */
export function writeSchemas(swaggerPath, folder) {
  const { definitions } = JSON.parse(readFileSync(swaggerPath, 'utf8'))
  mkdirSync(folder, { recursive: true })
  for (const [name, definition] of Object.entries(definitions)) {
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
      const used = {}
      gather(definitions, name, used)
      const top = { ...used[name] }
      top.properties = {
        ...top.properties,
        apiVersion: { enum: [group === '' ? version : `${group}/${version}`] },
        kind: { enum: [kind] },
      }
      top.required = [...new Set([...(top.required ?? []), 'apiVersion', 'kind'])]
      const schema = {
        $schema: 'http://json-schema.org/draft-07/schema#',
        ...top,
        definitions: used,
      }
      const suffix = [...(group === '' ? [] : [group.split('.')[0]]), version].join('-')
      writeFileSync(join(folder, `${kind}-${suffix}.json`.toLowerCase()), JSON.stringify(schema))
    }
  }
}

/** Adds a definition, and all that it refers to. */
function gather(definitions, name, used) {
  if (used[name]) return
  const own = looser[name] ?? definitions[name]
  used[name] = strict(own)
  for (const [, other] of JSON.stringify(own).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    gather(definitions, other, used)
  }
}

function strict(definition) {
  if (!definition.properties) return definition
  return { ...definition, additionalProperties: false }
}
