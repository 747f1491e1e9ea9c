/**
 * Describes a table's columns once: which property each column holds, and its SQL type. The lists of
 * columns, parameters and values for statements over many rows are all derived from this, in the same
 * order, so they cannot disagree.
 */

type Scalar = bigint | number | boolean | string | Date

type SqlTypeOf<V> = V extends bigint
  ? 'bigint'
  : V extends number
    ? 'int' | 'bigint'
    : V extends boolean
      ? 'boolean'
      : V extends Date
        ? 'timestamptz'
        : 'text' | 'uuid' | 'date'

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''

/**
 * `paidAmountMinor` is stored in `paid_amount`. The type keeps a property from being mapped to the wrong
 * column.
 */
type NameOf<P extends string> = Snake<P extends `${infer Base}Minor` ? Base : P>

type NameInGroup<G extends string, P extends string> =
  | NameOf<P>
  | `${NameOf<G>}_${NameOf<P>}`
  | `${NameOf<P>}_${NameOf<G>}`

type Described<Name extends string, V> = null extends V
  ? readonly [name: Name, type: SqlTypeOf<NonNullable<V>>, nullable: 'null']
  : readonly [name: Name, type: SqlTypeOf<V>]

type Group<G extends string, V> = {
  readonly [P in keyof V & string]-?: Described<NameInGroup<G, P>, V[P]>
}

/** The columns of every property. A nested object has its own columns: all of them are null, or none. */
export type Description<T> = {
  readonly [P in keyof T & string]-?: NonNullable<T[P]> extends Scalar
    ? Described<NameOf<P>, T[P]>
    : Group<P, NonNullable<T[P]>>
}

export interface Column {
  name: string
  type: 'bigint' | 'int' | 'boolean' | 'timestamptz' | 'text' | 'uuid' | 'date'
  isNullable: boolean
  /** The nested object that has the property; undefined if the value itself has it. */
  group: string | undefined
  property: string
  /** The name that `select` gives it. */
  key: string
}

export interface Columns<T> {
  description: Description<T>
  /** `agent_id, seq` */
  names: string
  /** `unnest($1::bigint[], $2::bigint[])`: the rows, with `values` as its parameters. */
  unnest: string
  /** `unnest($1::bigint[], $2::bigint[]) u(agent_id, seq)`, or with the parameters from another place on. */
  rows: (alias: string, from?: number) => string
  /** `available = u.available, held = u.held` */
  set: (alias: string) => string
  /** `o.agent_id as "agentId", o.status`: the rows are values, except for nested objects. */
  select: (alias: string) => string
  /** The parameters for a statement over these rows: one array per column. */
  values: (rows: readonly T[]) => unknown[][]
  /** Turns a row of `select` into a value. Needed only for values with nested objects. */
  fromRow: (row: object) => T
  /** Builds a value by reading each column. */
  build: (read: (column: Column) => unknown) => T
  /** Some of the columns, in the given order. */
  pick: <P extends keyof T & string>(...properties: P[]) => Columns<Pick<T, P>>
}

export function columns<T extends object>(description: Description<T>): Columns<T> {
  const all = listOf(description)
  const groups = [...new Set(all.flatMap(({ group }) => group ?? []))]
  const join = (text: (column: Column, at: number) => string) => all.map(text).join(', ')
  const names = join(({ name }) => name)
  const unnestFrom = (from: number) =>
    `unnest(${join(({ type }, at) => `$${from + at}::${type}[]`)})`
  const unnest = unnestFrom(1)

  const build = (read: (column: Column) => unknown): T => {
    const value: Record<string, unknown> = {}
    for (const group of groups) value[group] = {}
    for (const column of all) {
      const { group, property } = column
      const holder = group === undefined ? value : (value[group] as Record<string, unknown>)
      holder[property] = read(column)
    }
    for (const group of groups) {
      const isNull = Object.values(value[group] as object).every((each) => each === null)
      if (isNull) value[group] = null
    }
    return value as T
  }

  return {
    description,
    names,
    unnest,
    rows: (alias, from = 1) => `${unnestFrom(from)} ${alias}(${names})`,
    set: (alias) => join(({ name }) => `${name} = ${alias}.${name}`),
    select: (alias) =>
      join(({ name, key }) => `${alias}.${name}${name === key ? '' : ` as "${key}"`}`),
    values: (rows) => {
      const holders = new Map<string | undefined, readonly Holder[]>([
        [undefined, rows as Holder[]],
      ])
      for (const group of groups) {
        holders.set(
          group,
          rows.map((row) => row[group as keyof T] as Holder),
        )
      }
      return all.map((column) => valuesOf(holders.get(column.group) ?? [], column))
    },
    fromRow: (row) => build(({ key }) => (row as Record<string, unknown>)[key]),
    build,
    pick: (...properties) =>
      columns(
        Object.fromEntries(properties.map((each) => [each, description[each]])) as never,
      ) as never,
  }
}

type Entry = readonly [name: string, type: Column['type'], nullable?: 'null']

function listOf(description: object): Column[] {
  const described = Object.entries(description) as [string, Entry | Record<string, Entry>][]
  return described.flatMap(([property, entry]) =>
    isEntry(entry)
      ? columnOf(undefined, property, entry)
      : Object.entries(entry).map(([inner, each]) => columnOf(property, inner, each)),
  )
}

function isEntry(entry: Entry | Record<string, Entry>): entry is Entry {
  return Array.isArray(entry)
}

function columnOf(
  group: string | undefined,
  property: string,
  [name, type, nullable]: Entry,
): Column {
  const key = group === undefined ? property : `${group}.${property}`
  return { name, type, isNullable: nullable === 'null', group, property, key }
}

type Holder = Record<string, unknown> | null

/** One property of all rows, or of a nested object in each row. */
function valuesOf(holders: readonly Holder[], { property, type }: Column): unknown[] {
  return type === 'timestamptz'
    ? holders.map(
        (holder) => (holder?.[property] as Date | null | undefined)?.toISOString() ?? null,
      )
    : holders.map((holder) => holder?.[property] ?? null)
}
