import { type JsonMembers, jsonMembers } from '../lib/json-members.ts'
import { Problem } from '../lib/problem.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses a JSON body strictly: valid UTF-8, valid JSON, and no duplicate keys in an object. */
export function readJsonBody(raw: Buffer): { value: unknown; members: JsonMembers } {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(raw)
    value = JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    throw new Problem('malformed_json', `The body cannot be read: ${why}.`, { cause })
  }
  const members = jsonMembers(text)
  if (members.duplicateKey !== undefined) {
    const key = JSON.stringify(members.duplicateKey)
    throw new Problem('duplicate_json_key', `The key ${key} stands twice in one object.`)
  }
  return { value, members }
}
