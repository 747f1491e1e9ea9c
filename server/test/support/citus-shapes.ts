import { loadModule, parseSync } from 'libpg-query'
import { referenceTables, spreadByTheirId } from './table-places.ts'

/**
 * Shapes of statements that a Citus cluster refuses, found in PostgreSQL's own syntax tree. Each was tried on Citus
 * 13.2 with PostgreSQL 15.
 */
export const shapes = {
  lock: 'locks rows of several agents: name one, agent by agent',
  insertBeside: 'inserts beside other changes: make the insert a statement of its own',
  changesInWith: 'changes rows of several agents within a with: name one agent in each change',
  recursive: 'reads books recursively: walk them in the server',
  lateral: 'reads books laterally from unnest or a reference table: begin with wallets',
  correlated:
    'asks the books for each row of a reference table: begin with the books, or ask twice',
  returning: 'reads a table in returning: read it in a statement of its own',
  volatile: 'changes books by a function that is not immutable: pass the value in',
  apart: 'joins tables that lie on different machines: join on the column both are spread by',
} as const

export type Shape = keyof typeof shapes

// biome-ignore lint/suspicious/noExplicitAny: a syntax tree of some two hundred kinds of nodes
type Tree = any

const schema = 'sluice'
const references = new Set<string>(referenceTables)

/** Functions of which PostgreSQL says that they may answer otherwise the next time. */
const volatile = new Set(['random', 'clock_timestamp', 'gen_random_uuid', 'nextval', 'setval'])
/** And those that depend on a session's settings, which are refused over columns. */
const stable = new Set(['to_char', 'concat', 'concat_ws', 'format', 'date_trunc', 'now'])

export async function loadShapes(): Promise<void> {
  await loadModule()
}

/** What a cluster would refuse about a statement; `tables` are those that have been made. */
export function refusedShapes(statement: string, tables: ReadonlySet<string>): Shape[] {
  const found = new Set<Shape>()
  for (const { stmt } of parseSync(statement).stmts ?? []) look(stmt, new Set(), found, tables)
  return [...found]
}

/** The column by which a table's rows are spread; undefined for one that every machine has a copy of. */
function spreadBy(table: string, tables: ReadonlySet<string>): string | undefined {
  if (!tables.has(table) || references.has(table)) return undefined
  return spreadByTheirId[table] ?? 'agent_id'
}

interface Range {
  alias: string
  /** What its rows are spread by, if they are. */
  by: string | undefined
  kind: 'table' | 'function' | 'subquery' | 'with'
  isLateral: boolean
  tree: Tree
}

function look(tree: Tree, ctes: Set<string>, found: Set<Shape>, tables: ReadonlySet<string>): void {
  const [kind, node] = Object.entries<Tree>(tree)[0] ?? []
  if (!kind?.endsWith('Stmt')) return
  const known = new Set(ctes)
  const within: Tree[] = (node.withClause?.ctes ?? []).map((each: Tree) => each.CommonTableExpr)
  const changes = [tree, ...within.map(({ ctequery }) => ctequery)].filter(isChange)
  for (const { ctename } of within) known.add(ctename)
  const isBook = (each: Tree) => spreadBy(changed(each), tables) !== undefined
  if (changes.length > 1 && changes.some((each) => 'InsertStmt' in each && isBook(each))) {
    found.add('insertBeside')
  }
  if (
    changes.length > 1 &&
    changes.some((each) => isBook(each) && !namesOne(each, known, tables))
  ) {
    found.add('changesInWith')
  }
  if (node.withClause?.recursive && within.some(({ ctequery }) => readsBooks(ctequery, tables))) {
    found.add('recursive')
  }
  if (kind === 'SelectStmt') lookAtSelect(node, known, found, tables)
  else lookAtChange(kind, node, known, found, tables)
  forEachStatement(node, (inner) => look(inner, known, found, tables))
}

function lookAtSelect(
  node: Tree,
  ctes: Set<string>,
  found: Set<Shape>,
  tables: ReadonlySet<string>,
): void {
  const ranges = rangesOf(node.fromClause ?? [], ctes, tables)
  const spread = ranges.filter(({ by }) => by !== undefined)
  if (node.lockingClause && spread.length > 0 && !spread.every((range) => isNamed(range, node))) {
    found.add('lock')
  }
  const first = ranges[0]
  const isBegunApart = first !== undefined && first.by === undefined && first.kind !== 'subquery'
  const reads = (range: Range) => range.isLateral && readsBooks(range.tree, tables)
  if (isBegunApart && first.kind !== 'with' && ranges.some(reads)) found.add('lateral')
  if (isBegunApart && spread.length === 0 && first.kind === 'table') {
    const aliases = new Set(ranges.map(({ alias }) => alias))
    forEach([node.whereClause, node.targetList], 'SubLink', ({ subselect }) => {
      if (readsBooks(subselect, tables) && refersTo(subselect, aliases)) found.add('correlated')
    })
  }
  if (areApart(spread, node)) found.add('apart')
}

function lookAtChange(
  kind: string,
  node: Tree,
  ctes: Set<string>,
  found: Set<Shape>,
  tables: ReadonlySet<string>,
): void {
  const by = spreadBy(node.relation?.relname ?? '', tables)
  if (by === undefined) return
  forEach(node.returningClause, 'SubLink', () => found.add('returning'))
  if (kind === 'UpdateStmt') {
    forEach(node.targetList, 'FuncCall', (call) => {
      const name = call.funcname.at(-1).String.sval
      let hasColumns = false
      forEach(call.args, 'ColumnRef', () => {
        hasColumns = true
      })
      if (volatile.has(name) || (stable.has(name) && hasColumns)) found.add('volatile')
    })
  }
  if (kind === 'InsertStmt') return
  const own = { RangeVar: node.relation }
  const ranges = rangesOf([own, ...(node.fromClause ?? node.usingClause ?? [])], ctes, tables)
  if (
    areApart(
      ranges.filter((range) => range.by !== undefined),
      node,
    )
  )
    found.add('apart')
}

/** Whether tables are joined otherwise than by the columns that they are spread by. */
function areApart(spread: Range[], node: Tree): boolean {
  if (spread.length < 2) return false
  const kinds = new Set(spread.map(({ by }) => by))
  if (kinds.size > 1) return true
  const [by] = kinds
  const groups = new Map(spread.map(({ alias }) => [alias, alias]))
  const rootOf = (alias: string): string => {
    const up = groups.get(alias) ?? alias
    return up === alias ? alias : rootOf(up)
  }
  const join = (a: string, b: string) => {
    if (!groups.has(a)) groups.set(a, a)
    if (!groups.has(b)) groups.set(b, b)
    groups.set(rootOf(a), rootOf(b))
  }
  forEachHere([node.fromClause, node.usingClause, node.whereClause], (kind, each) => {
    if (kind === 'A_Expr' && each.name?.[0]?.String?.sval === '=') {
      const sides = [each.lexpr, each.rexpr].map((side) => sideOf(side, by as string, spread))
      if (sides[0] && sides[1]) join(sides[0], sides[1])
    }
    if (kind === 'JoinExpr' && each.usingClause?.some((c: Tree) => c.String.sval === by)) {
      // Which ones a using joins is the left side's business: all that came before.
      for (const range of spread) join(range.alias, (spread[0] as Range).alias)
    }
    if (kind === 'JoinExpr' && each.isNatural) {
      for (const range of spread) join(range.alias, (spread[0] as Range).alias)
    }
  })
  return new Set(spread.map(({ alias }) => rootOf(alias))).size > 1
}

/** Whose distribution column a side of an equation is, or which parameter. */
function sideOf(side: Tree, by: string, spread: Range[]): string | undefined {
  if (side?.ParamRef) return `$${side.ParamRef.number}`
  if (side?.TypeCast) return sideOf(side.TypeCast.arg, by, spread)
  const fields = side?.ColumnRef?.fields?.map((field: Tree) => field.String?.sval)
  if (fields?.at(-1) !== by) return undefined
  return fields.length > 1 ? fields[0] : spread[0]?.alias
}

/** Whether a change names the agent, or the account, whose rows it changes. */
function namesOne(tree: Tree, ctes: Set<string>, tables: ReadonlySet<string>): boolean {
  const [kind, node] = Object.entries<Tree>(tree)[0] ?? ['', {}]
  if (kind === 'InsertStmt') return true
  const [own] = rangesOf([{ RangeVar: node.relation }], ctes, tables)
  return own === undefined || isNamed(own, node)
}

function isNamed({ alias, by }: Range, node: Tree): boolean {
  let isOne = false
  forEachHere([node.fromClause, node.whereClause], (kind, each) => {
    if (kind !== 'A_Expr' || each.kind !== 'AEXPR_OP' || each.name[0].String.sval !== '=') return
    const sides = [each.lexpr, each.rexpr]
    const isOwn = sides.some((side) => {
      const fields = side?.ColumnRef?.fields?.map((field: Tree) => field.String?.sval)
      return fields?.at(-1) === by && (fields.length === 1 || fields[0] === alias)
    })
    const isGiven = sides.some((side) => {
      const value = side?.TypeCast?.arg ?? side
      return value?.ParamRef !== undefined || value?.A_Const !== undefined
    })
    if (isOwn && isGiven) isOne = true
  })
  return isOne
}

function rangesOf(items: Tree[], ctes: Set<string>, tables: ReadonlySet<string>): Range[] {
  return items.flatMap((item): Range[] => {
    if (item.JoinExpr) return rangesOf([item.JoinExpr.larg, item.JoinExpr.rarg], ctes, tables)
    if (item.RangeVar) {
      const { relname, alias, schemaname } = item.RangeVar
      const isWith = ctes.has(relname) && schemaname === undefined
      const isOurs = schemaname === undefined || schemaname === schema
      const by = isWith || !isOurs ? undefined : spreadBy(relname, tables)
      const kind = isWith || !tables.has(relname) ? 'with' : 'table'
      return [{ alias: alias?.aliasname ?? relname, by, kind, isLateral: false, tree: item }]
    }
    if (item.RangeSubselect) {
      const { alias, lateral = false, subquery } = item.RangeSubselect
      const name = alias?.aliasname ?? ''
      return [{ alias: name, by: undefined, kind: 'subquery', isLateral: lateral, tree: subquery }]
    }
    const { alias } = item.RangeFunction ?? {}
    const name = alias?.aliasname ?? ''
    return [{ alias: name, by: undefined, kind: 'function', isLateral: false, tree: item }]
  })
}

const isChange = (tree: Tree) =>
  'InsertStmt' in tree || 'UpdateStmt' in tree || 'DeleteStmt' in tree || 'MergeStmt' in tree

const changed = (tree: Tree): string => Object.values<Tree>(tree)[0].relation?.relname ?? ''

function readsBooks(tree: Tree, tables: ReadonlySet<string>): boolean {
  let isRead = false
  forEach(tree, 'RangeVar', ({ relname }) => {
    if (spreadBy(relname, tables) !== undefined) isRead = true
  })
  return isRead
}

function refersTo(tree: Tree, aliases: ReadonlySet<string>): boolean {
  let isReferred = false
  forEach(tree, 'ColumnRef', ({ fields }) => {
    if (fields.length > 1 && aliases.has(fields[0].String?.sval)) isReferred = true
  })
  return isReferred
}

/** Every node of a kind, however deep. */
function forEach(tree: Tree, wanted: string, use: (node: Tree) => void): void {
  if (tree === null || typeof tree !== 'object') return
  for (const [kind, node] of Object.entries<Tree>(tree)) {
    if (kind === wanted) use(node)
    forEach(node, wanted, use)
  }
}

/** Every node of this statement, leaving out those of statements within it. */
function forEachHere(tree: Tree, use: (kind: string, node: Tree) => void): void {
  if (tree === null || typeof tree !== 'object') return
  for (const [kind, node] of Object.entries<Tree>(tree)) {
    if (kind.endsWith('Stmt')) continue
    use(kind, node)
    forEachHere(node, use)
  }
}

/** The statements right within this one. */
function forEachStatement(tree: Tree, use: (statement: Tree) => void): void {
  if (tree === null || typeof tree !== 'object') return
  for (const [kind, node] of Object.entries<Tree>(tree)) {
    if (kind.endsWith('Stmt') && node !== null && typeof node === 'object') use({ [kind]: node })
    // The two sides of a union are selects without a name of their own.
    else if ((kind === 'larg' || kind === 'rarg') && node?.op !== undefined)
      use({ SelectStmt: node })
    else forEachStatement(node, use)
  }
}
