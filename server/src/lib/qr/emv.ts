/**
 * EMV merchant-presented QR codes: a two-digit tag, a two-digit length in characters, the value. The last
 * field is a checksum over the UTF-8 bytes of everything before it.
 */

export type EmvField = readonly [tag: string, value: string]

/** Writes fields in the given order, without the checksum. Throws if a value is too long for its length. */
export function writeFields(fields: readonly EmvField[]): string {
  return fields
    .map(([tag, value]) => {
      const length = [...value].length
      if (length > 99) throw new Error(`field ${tag} has ${length} characters, at most 99 fit`)
      return `${tag}${String(length).padStart(2, '0')}${value}`
    })
    .join('')
}

/** A whole QR text: the fields and their checksum. */
export function writeEmv(fields: readonly EmvField[]): string {
  const body = `${writeFields(fields)}6304`
  return body + crc16(body)
}

/** The fields of a text, in their order; undefined where lengths and text do not fit each other. */
export function readFields(text: string): EmvField[] | undefined {
  const characters = [...text]
  const fields: EmvField[] = []
  for (let at = 0; at < characters.length; ) {
    const head = characters.slice(at, at + 4).join('')
    if (!/^\d{4}$/.test(head)) return undefined
    const end = at + 4 + Number(head.slice(2))
    if (end > characters.length || end === at + 4) return undefined
    fields.push([head.slice(0, 2), characters.slice(at + 4, end).join('')])
    at = end
  }
  return fields
}

/** Whether a field holds fields itself: merchant accounts, additional data, another language. */
export function isTemplate(tag: string): boolean {
  return (tag >= '26' && tag <= '51') || tag === '62' || tag === '64'
}

/** The fields of a QR text without its checksum, or what is wrong with the text. */
export function readEmv(text: string): { fields: EmvField[] } | { fault: string } {
  const fields = readFields(text)
  if (!fields) return { fault: 'the lengths of its fields do not fit its text' }
  if (fields[0]?.[0] !== '00') return { fault: 'it does not begin with field 00' }
  const [tag, checksum] = fields.at(-1) ?? []
  if (tag !== '63' || checksum?.length !== 4) return { fault: 'it does not end with its checksum' }
  const expected = crc16(text.slice(0, -4))
  if (checksum.toUpperCase() !== expected) {
    return { fault: `its checksum is ${checksum} but the text before it gives ${expected}` }
  }
  const twice = fields.find(([each], at) => fields.findIndex(([other]) => other === each) !== at)
  if (twice) return { fault: `field ${twice[0]} occurs twice` }
  const broken = fields.find(([each, value]) => isTemplate(each) && !readFields(value))
  if (broken) return { fault: `the lengths inside of field ${broken[0]} do not fit its text` }
  return { fields: fields.slice(0, -1) }
}

/** The value of a field, or of a field within a template. */
export function fieldOf(fields: readonly EmvField[], tag: string, inner?: string) {
  const value = fields.find(([each]) => each === tag)?.[1]
  if (inner === undefined || value === undefined) return value
  return readFields(value)?.find(([each]) => each === inner)?.[1]
}

/** CRC-16/CCITT-FALSE of the UTF-8 bytes, as four hexadecimal capitals. */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}
