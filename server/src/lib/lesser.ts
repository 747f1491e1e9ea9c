/** The lesser of two ceilings, of which null is none. */
export function lesser(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}
