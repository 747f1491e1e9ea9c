/**
 * Puts an object together from members that are JSON already. For answers that hold exact decimals
 * or an agent's own text, neither of which survives `JSON.stringify`.
 */
export function jsonObject(members: Record<string, string | undefined>): string {
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`
  }
  return `{${text}}`
}

export const quoted = (text: string | null): string => JSON.stringify(text)
