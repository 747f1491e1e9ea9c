import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'

/**
 * A check that is compiled when it is first needed: compiling the larger schemas takes tens of milliseconds, and most
 * processes never need them.
 */
export function compiled<Schema extends TSchema>(schema: Schema) {
  let validator: ReturnType<typeof Compile<Schema>> | undefined
  const ready = () => {
    validator ??= Compile(schema)
    return validator
  }
  return {
    Check: (value: unknown): value is Static<Schema> => ready().Check(value),
    Errors: (value: unknown) => ready().Errors(value),
  }
}
