import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { splitStatements } from '../../src/db/split-statements.ts'
import { currencies } from '../../src/lib/money.ts'

/** A file of the repository, its path relative to the root. */
interface Source {
  path: string
  text: string
}

/** One message per breach: where, what is wrong, what to do instead. */
type Rule = (files: Source[]) => string[]

const root = fileURLToPath(new URL('../../..', import.meta.url))

const folders = [
  'lib',
  'statements',
  'payment-files',
  'providers',
  'db',
  'sandbox-bank',
  'alerts',
  'ledger',
  'proof',
  'agents',
  'operators',
  'approvals',
  'limits',
  'callbacks',
  'bank-accounts',
  'connectors',
  'routing',
  'teller',
  'payouts',
  'payout-files',
  'orders',
  'payments',
  'reconcile',
  'insights',
  'alert-rules',
  'reports',
  'seed',
  'archive',
  'http',
  'worker',
  'cli',
]
/** Folders that stand on fewer than all before them. */
const standsOn: Record<string, string[]> = {
  statements: ['lib'],
  'payment-files': ['lib', 'statements'],
  providers: ['lib'],
  db: ['lib'],
  'sandbox-bank': ['lib', 'db'],
}
const doors = ['http', 'worker', 'cli']
/** Wires the folders together, as the files at the root do. */
const wiring = 'service'

/** What a second folder may do to a table, and why. */
const sharedTables: Record<string, { folder: string; verbs: string[] }> = {
  // An agent without a wallet must not exist, so creating it inserts the wallet at zero.
  wallets: { folder: 'agents', verbs: ['insert into'] },
  // No outcome without its callback: the teller writes both in one transaction, callbacks/ delivers.
  callbacks: { folder: 'ledger', verbs: ['insert into'] },
  callback_bodies: { folder: 'ledger', verbs: ['insert into'] },
  // The teller records the notices of the payments that it books.
  notices: { folder: 'ledger', verbs: ['insert into'] },
  notice_events: { folder: 'ledger', verbs: ['insert into'] },
  // A withdrawal and its attempt at a provider: the teller hands over in one transaction, payouts/ asks.
  payouts: { folder: 'ledger', verbs: ['insert into', 'update'] },
}

/** Folders import only those before them in the list; http, worker and cli never each other. */
const folderOrder: Rule = (files) =>
  inSource(files).flatMap((file) => {
    const from = placeOf(file.path)
    if (from.folder !== undefined && !folders.includes(from.folder)) {
      return [
        `${file.path}:1: the folder ${from.folder}/ has no place in the order of folders: put the file into one of ${folders.join(', ')}, or add the folder to the list in this test and to ARCHITECTURE.md`,
      ]
    }
    return find(file, importPattern, (match) => {
      const target = posix.join(posix.dirname(file.path), match[1] ?? '')
      const instead = mayNotImport(file.path, target)
      return instead && `imports ${target.replace('server/src/', '')}: ${instead}`
    })
  })

const importPattern = /\b(?:from|import)\s*\(?\s*['"`](\.{1,2}\/[^'"`]+)['"`]/g

/** What to do instead of the import; undefined where it is allowed. */
function mayNotImport(path: string, target: string): string | undefined {
  const [from, to] = [placeOf(path), placeOf(target)]
  if (!target.startsWith('server/src/')) {
    if (isTest(path) || !target.endsWith('.ts')) return undefined
    return 'what runs lies in server/src: move the code there'
  }
  if (to.file === 'main.ts') {
    return 'nothing imports main.ts, which only starts the program: move what you need into a folder'
  }
  if (from.folder === undefined) {
    if (to.folder !== 'cli' || from.file === 'main.ts') return undefined
    return 'only main.ts starts the command line: move what both need into a folder before cli'
  }
  if (to.folder === undefined) {
    if (from.folder === 'cli') return undefined
    return to.file === 'config.ts'
      ? 'settings are read by config.ts and passed in: take the value as a parameter'
      : 'the root and service/ wire the folders together: take what you need as a parameter'
  }
  if (from.folder === to.folder) return undefined
  if (from.folder === 'lib') {
    return 'lib imports nothing of ours: move the file to the folder that it is about'
  }
  if (to.folder === 'sandbox-bank') {
    return 'the bank is an outside party, which only the root starts: speak to it over HTTP, with providers/sandbox'
  }
  const ground = standsOn[from.folder]
  if (ground && !ground.includes(to.folder)) {
    return `${from.folder} imports only ${ground.join(' and ')}: take what you need as a parameter, or move the caller`
  }
  if (doors.includes(from.folder) && doors.includes(to.folder)) {
    return `${doors.join(', ')} call the same functions and never each other: move the function into the folder that it is about`
  }
  if (folders.indexOf(to.folder) > folders.indexOf(from.folder)) {
    return `${to.folder} comes after ${from.folder} in the order of folders: take it as a parameter, or move the function to ${to.folder}`
  }
  return undefined
}

/** A file that is needed to read another is not read with it: what both need is a third one's. */
const noCircles: Rule = (files) => {
  const imports = new Map(
    files
      .filter(({ path }) => /^(server|console)\/src\/.*\.tsx?$/.test(path) && !isTest(path))
      .map((file) => [file.path, importsOf(file)]),
  )
  /** The way from one file to another, the latter last. */
  const way = (from: string, to: string, seen: Set<string>): string[] | undefined => {
    for (const next of imports.get(from) ?? []) {
      if (next === to) return [next]
      if (seen.has(next)) continue
      seen.add(next)
      const further = way(next, to, seen)
      if (further) return [next, ...further]
    }
    return undefined
  }
  const inCircles = new Set<string>()
  return [...imports.keys()].sort().flatMap((path) => {
    const circle = inCircles.has(path) ? undefined : way(path, path, new Set())
    if (!circle) return []
    for (const each of circle) inCircles.add(each)
    return `${path}:1: imports itself by way of ${circle.slice(0, -1).join(', ')}: move what both need into a file of its own`
  })
}

function importsOf(file: Source): string[] {
  return [...file.text.matchAll(importPattern)].map((match) =>
    posix.join(posix.dirname(file.path), match[1] ?? ''),
  )
}

const environment: Rule = (files) =>
  inSource(files)
    .filter((file) => file.path !== 'server/src/config.ts' && !isTest(file.path))
    .flatMap((file) =>
      find(
        file,
        /\bprocess\??\.env\b|\bprocess\[['"]env|\{[^{}]*\benv\b[^{}]*\}\s*(?:= process\b|from ['"](?:node:)?process['"])/g,
        () =>
          'reads the environment: add the setting to config.ts, which checks it, and pass the value in',
      ),
    )

const noBarrels: Rule = (files) =>
  inSource(files).flatMap((file) => [
    ...(posix.basename(file.path).startsWith('index.')
      ? [
          `${file.path}:1: is named index: name it after what it exports, and import that file itself`,
        ]
      : []),
    ...find(
      file,
      /^\s*export\s+(?:type\s+)?(?:\*|\{[^}]*\}\s*from\b)/gm,
      () => 're-exports: let the importer name the file that has it',
    ),
  ])

/** Where the word does say what is inside: all of it, put together, and started for a test. */
const wholeService = /^server\/(src\/service\/|test\/support\/service\.ts$)/

const fileNames: Rule = (files) =>
  files
    .filter((file) => /^server\/(src|test|bench)\/.*\.tsx?$/.test(file.path))
    .flatMap(({ path }) => {
      const names = path.replace(/(\.(test|bench))?\.tsx?$/, '').split('/')
      const odd = names.find((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
      const vague = names.find((name) =>
        /^(.+-)?(utils?|helpers?|common|managers?|services?)$|^types$/.test(name),
      )
      if (odd !== undefined) {
        return [`${path}:1: "${odd}" is not in kebab-case: name it after its export, like-this.ts`]
      }
      if (vague === undefined || wholeService.test(path)) return []
      return [
        `${path}:1: "${vague}" says nothing about what is inside: name the file after what it exports, and put each function or type beside the code that it is about`,
      ]
    })

const typesHold: Rule = (files) =>
  inSource(files).flatMap((file) => [
    ...find(
      file,
      /(?::|\bas|[<,|&(=])\s*any\b(?=\s*(?:[\])}>,;=|&[]|$))/gm,
      () => 'uses the type any: name the type, or take unknown and check it',
    ),
    ...find(
      file,
      /@ts-(?:ignore|expect-error|nocheck)/g,
      (match) => `silences the compiler with ${match[0]}: make the types say what is true`,
      file.text,
    ),
  ])

/** Sessions with less than their login's rights begin in one; the other looks at sessions as the login does. */
const switchers = ['server/src/db/pool.ts', 'server/src/db/oldest-snapshot.ts']

/** Rights come from the login: a session that switched roles can switch back. */
const noSwitchedRoles: Rule = (files) =>
  inSource(files)
    .filter(({ path }) => !isTest(path) && !switchers.includes(path))
    .flatMap((file) =>
      find(
        file,
        /(?<!\bupdate \w+ )\bset\s+(?:local\s+|session\s+)?(?:role|session\s+authorization)\b|-c role=|set_config\('role'/gi,
        () =>
          'switches roles: rights come from the login, and only db/pool.ts starts sessions with less of them',
      ),
    )

/** Programs of agents, which the reference shows as text. */
const shownExamples = 'server/src/http/language-examples.ts'

const output: Rule = (files) => {
  const sources = inSource(files).filter(({ path }) => !isTest(path) && path !== shownExamples)
  const inCli = sources.filter((file) => placeOf(file.path).folder === 'cli')
  const writers = inCli.filter((file) => /\bconsole\.(log|info)\b|\bstdout\b/.test(code(file)))
  return [
    ...sources
      .filter((file) => !inCli.includes(file))
      .flatMap((file) =>
        find(
          file,
          /\bconsole\.\w+/g,
          (match) => `uses ${match[0]}: take the logger, or return the text and let cli/ print it`,
        ),
      ),
    ...writers
      .slice(1)
      .flatMap((file) =>
        find(
          file,
          /\bconsole\.(?:log|info)\b|\bstdout\b/g,
          () =>
            `writes to stdout, as ${writers[0]?.path} does: call that one, so that --json holds everywhere`,
        ).slice(0, 1),
      ),
  ]
}

const everyTestRuns: Rule = (files) =>
  files
    .filter((file) => isTest(file.path))
    .flatMap((file) =>
      find(
        file,
        /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf)\b|\b(?:ctx|context|task)\.skip\(|\{[^{}]*\b(?:skip|only|todo): true\b/g,
        (match) =>
          `"${match[0].trim()}" keeps tests from running: repair the test or delete it, and never commit a focused one`,
      ),
    )

const oneWriter: Rule = (files) => {
  const writes = inSource(files)
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      matches(code(file), writePattern).map(({ match, line }) => ({
        where: `${file.path}:${line}`,
        folder: placeOf(file.path).folder ?? 'the root of src',
        verb: (match[1] ?? 'update').toLowerCase().replace(/\s+/g, ' '),
        table: (match[2] ?? match[3] ?? '').toLowerCase(),
      })),
    )
  const owners = new Map<string, (typeof writes)[number]>()
  return writes.flatMap((write) => {
    if (write.table.startsWith('$')) {
      return [
        `${write.where}: the table to write is chosen at run time: write its name into the statement, so that it can be found`,
      ]
    }
    // Only the owner's login may remove anything of the books, and only what is in the archive's files.
    if (write.folder === 'archive' && write.verb === 'delete from') return []
    const shared = sharedTables[write.table]
    if (shared?.folder === write.folder && shared.verbs.includes(write.verb)) return []
    const owner = owners.get(write.table) ?? write
    owners.set(write.table, owner)
    if (owner.folder === write.folder) return []
    return [
      `${write.where}: ${write.folder} writes the table ${write.table}, which ${owner.folder} writes at ${owner.where}: a table is written by one folder, so call a function of that folder`,
    ]
  })
}

/** The bank's book is its own: the service knows only what the bank tells. */
const banksOwnBook: Rule = (files) =>
  inSource(files)
    .filter((file) => placeOf(file.path).folder !== 'sandbox-bank' && !isTest(file.path))
    .flatMap((file) =>
      find(
        file,
        /\bsandbox_bank\b/g,
        () => 'looks into the book of the bank: ask the bank over HTTP, with providers/sandbox',
      ),
    )

const table = String.raw`(?:only\s+)?(?:sluice\.)?"?(\w+|\$\{)`
const writePattern = new RegExp(
  String.raw`\b(insert\s+into|delete\s+from|merge\s+into)\s+${table}` +
    String.raw`|\bupdate\s+${table}(?:[\w.}"]*)(?:\s+(?:as\s+)?\w+)?\s+set\b`,
  'gi',
)

const noSqlAtTheDoors: Rule = (files) =>
  inSource(files)
    .filter((file) => doors.includes(placeOf(file.path).folder ?? '') && !isTest(file.path))
    .flatMap((file) =>
      find(
        file,
        /\.query\s*(?:<[^()]*>)?\(/g,
        () =>
          'runs SQL: move the statement into a function of the folder that has the table, or of db',
      ),
    )

/** What is kept as text is somebody else's: PostgreSQL refuses what JSON allows, such as an escaped NUL. */
const textStaysText: Rule = (files) =>
  files
    .filter((file) => /^server\/src\/.*\.(tsx?|sql)$/.test(file.path) && !isTest(file.path))
    .flatMap((file) =>
      find(
        file,
        /::\s*jsonb?\b(?!\[)|\bcast\s*\([^()]*\bas\s+jsonb?\b/gi,
        () =>
          'has the database read text as JSON: read it with JSON.parse, or keep what is asked for in a column',
        // Comments of SQL are not those of TypeScript.
        file.path.endsWith('.sql') ? file.text.replace(/--.*$/gm, '') : code(file),
      ),
    )

const moneyIsExact: Rule = (files) =>
  inSource(files).flatMap((file) => [
    ...find(
      file,
      /\bparseFloat\(/g,
      () => 'parses a float: read money with lib/money.ts, and other numbers with Number()',
    ),
    ...find(
      file,
      /\bNumber\([^()]*Minor\b/g,
      () => 'makes a float of money: keep the bigint, and write it with lib/money.ts',
    ),
  ])

/** Every setting that config.ts reads is explained to whoever runs the service. */
const settingsAreDocumented: Rule = (files) => {
  const config = files.filter((file) => file.path === 'server/src/config.ts')
  const docs = files.filter((file) => ['README.md', 'docs/operate.md'].includes(file.path))
  const seen = new Set<string>()
  return config.flatMap((file) =>
    find(file, /\b\w+(?:<[^<>()]*>)?\(\s*'([A-Z][A-Z0-9_]+)'/g, (match) => {
      const name = match[1] ?? ''
      if (seen.has(name)) return undefined
      seen.add(name)
      const word = new RegExp(`(?<![A-Z0-9_])${name}(?![A-Z0-9_])`)
      if (docs.some((doc) => word.test(doc.text))) return undefined
      return `reads ${name}, which neither README.md nor docs/operate.md names: say there what it sets and its default`
    }),
  )
}

/** A number may be left out: it was somebody's who did not need it after all. */
const migrationsAreNumbered: Rule = (files) =>
  files
    .map((file) => file.path)
    .filter((path) => path.startsWith('server/src/db/migrations/'))
    .sort()
    .flatMap((path, index, paths) => {
      const before = posix.basename(paths[index - 1] ?? '0000')
      const next = String(Number(before.slice(0, 4)) + 1).padStart(4, '0')
      const name = posix.basename(path)
      if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(name)) {
        return [`${path}:1: is not named like a migration: name it ${next}_what_it_adds.sql`]
      }
      if (name.slice(0, 4) !== before.slice(0, 4)) return []
      return [`${path}:1: has the number of ${before}: give it ${next}, or the next that is free`]
    })

/** Tables that may be large and are in use while a migration runs. */
const largeTables = [
  'orders',
  'journal',
  'callbacks',
  'callback_attempts',
  'callback_bodies',
  'payments',
  'payment_claims',
  'payout_references',
  'payouts',
  'notices',
  'notice_events',
  'audit_log',
  'bank_files',
  'bank_reports',
  'bank_movements',
  'expected_deposits',
  'payout_items',
  'payout_file_lines',
  'open_items',
  'unmatched_payments',
  'limit_uses',
  'limit_payees',
  'connector_deposits',
  'deposit_codes',
  'alert_deliveries',
]

/** Released with plain indexes on such tables, when no installation had many rows in them. */
const releasedAsTheyAre = ['server/src/db/migrations/0033_']

/** Where currencies are named: their table, the tables of banks and of their layouts, what is written from them, and examples. */
const namesCurrencies = [
  'server/src/lib/currencies.ts',
  'server/src/lib/banks.ts',
  'server/src/payment-files/bulk-profiles.ts',
  'server/src/http/agent-api/examples.ts',
  'server/src/http/reference-page.ts',
  'server/src/http/reference-schema.ts',
  'server/src/seed/seed-orders.ts',
  'console/src/parts/currency-rows.ts',
  'console/src/api-schemas.ts',
  'sdk/src/api-schemas.ts',
]

/** What differs between currencies is in one table, so that a new one is a row there. */
const currenciesInOnePlace: Rule = (files) =>
  files
    .filter(({ path }) => /^(server|sdk|console)\/src\/.*\.tsx?$/.test(path))
    .filter(({ path }) => !isTest(path) && path !== shownExamples)
    .filter(({ path }) => !namesCurrencies.includes(path))
    .flatMap((file) =>
      find(
        file,
        new RegExp(`\\b(?:${currencies.join('|')})\\b`, 'g'),
        ([code]) =>
          `names ${code}: ask currencyRow() in server/src/lib/currencies.ts for what differs, or take defaultCurrency`,
      ),
    )

const concurrently = 'in a file whose first line is "-- outside a transaction"'
const validated = 'add it "not valid", and validate it in a statement of its own'

/** What a statement does to a large table, and what to do instead. */
const lockingChanges: [pattern: RegExp, says: string][] = [
  [
    /^create\s+(?:unique\s+)?index\s+(?!concurrently)[\s\S]*?\bon\s+(?:only\s+)?(\w+)/i,
    `builds an index while nobody can write: build it "concurrently if not exists", ${concurrently}`,
  ],
  [
    /^(?:update|delete\s+from)\s+(\w+)/i,
    'changes all of it in one go: go page by page, in a block that commits',
  ],
  [
    /^alter\s+table\s+(\w+)[\s\S]*\badd\s+(?:constraint\s+\w+\s+)?(?:check|unique|primary|foreign|exclude)\b(?!((?!\badd\b)[\s\S])*(\bnot\s+valid\b|\busing\s+index\b))/i,
    `reads all of it under a lock: ${validated}`,
  ],
  [
    /^alter\s+table\s+(\w+)[\s\S]*\badd\s+(?:column\s+)?(?!constraint|check|unique|primary|foreign|exclude)\w+\s(?:(?!\badd\b)[\s\S])*\b(?:check|references|unique|primary)\b/i,
    `reads all of it under a lock for the new column's constraint: ${validated}`,
  ],
  [
    /^alter\s+table\s+(\w+)[\s\S]*\b(?:type\s+\w+|default\s+\w+\s*\(|set\s+(?:logged|unlogged|tablespace))/i,
    'writes all of it anew under a lock: add a column that is null or has a constant default',
  ],
  [
    /^alter\s+table\s+(\w+)[\s\S]*\bset\s+not\s+null\b/i,
    'reads all of it under a lock: add a check "not valid", and validate it in a statement of its own',
  ],
]

/** From 0010 on; the ones before were released. */
const migrationsLetOthersWork: Rule = (files) =>
  files
    .filter(({ path }) => /^server\/src\/db\/migrations\/(?!000\d)\d{4}_/.test(path))
    .filter(({ path }) => !releasedAsTheyAre.some((start) => path.startsWith(start)))
    .flatMap((file) => {
      const made = [
        ...file.text.matchAll(
          /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi,
        ),
      ]
      const isNew = new Set(made.map((match) => match[1]))
      return splitStatements(file.text).flatMap((statement) => {
        const line = lineOfStatement(file.text, statement)
        const found = lockingChanges.flatMap(([pattern, says]) => {
          const table = pattern.exec(statement)?.[1] ?? ''
          if (!largeTables.includes(table) || isNew.has(table)) return []
          return [`${file.path}:${line}: ${table}: ${says}`]
        })
        if (!/^(create|drop)\s.*\bindex\s+concurrently\b/i.test(statement)) return found
        if (!file.text.startsWith('-- outside a transaction\n')) {
          found.push(
            `${file.path}:${line}: runs in a transaction, where it cannot: put it ${concurrently}`,
          )
        }
        if (!/concurrently\s+if\s+(not\s+)?exists\b/i.test(statement)) {
          found.push(
            `${file.path}:${line}: cannot be run again: say "if not exists" or "if exists"`,
          )
        }
        return found
      })
    })

function lineOfStatement(text: string, statement: string): number {
  const [first = ''] = statement.split('\n')
  return text.slice(0, text.indexOf(first)).split('\n').length
}

/** Each with samples that it must see, as [path, text, part of the message], and some it must not. */
const rules: {
  guarantee: string
  rule: Rule
  sees: [path: string, text: string, says: string][]
  allows: [path: string, text: string][]
}[] = [
  {
    guarantee: 'no file imports itself, by whatever way',
    rule: noCircles,
    sees: [
      ['server/src/lib/round.ts', `import { a } from './zone.ts'`, 'by way of server/src/lib/zone'],
    ],
    allows: [
      ['server/src/lib/other.ts', `import { a } from './zone.ts'`],
      ['server/src/lib/round.test.ts', `import { a } from './zone.ts'`],
    ],
  },
  {
    guarantee: 'folders import only those before them',
    rule: folderOrder,
    sees: [
      ['server/src/lib/a.ts', `import { b } from '../db/pool.ts'`, 'lib imports nothing of ours'],
      ['server/src/lib/a.ts', `import type { Config } from '../config.ts'`, 'as a parameter'],
      ['server/src/providers/x/a.ts', `import { b } from '../../db/pool.ts'`, 'imports only lib'],
      ['server/src/db/a.ts', `import { b } from '../providers/provider.ts'`, 'imports only lib'],
      ['server/src/sandbox-bank/a.ts', `import '../providers/provider.ts'`, 'only lib and db'],
      ['server/src/orders/a.ts', `import { b } from '../sandbox-bank/b.ts'`, 'an outside party'],
      ['server/src/ledger/a.ts', `import {\n  b,\n} from '../orders/b.ts'`, 'orders comes after'],
      ['server/src/agents/a.ts', `await import('../callbacks/b.ts')`, 'callbacks comes after'],
      ['server/src/http/x/a.ts', `import '../../worker/b.ts'`, 'never each other'],
      ['server/src/cli/a.ts', `import { b } from '../http/app.ts'`, 'never each other'],
      ['server/src/worker/a.ts', `import { b } from '../service/b.ts'`, 'wire the folders'],
      ['server/src/worker/a.ts', `import { b } from '../config.ts'`, 'as a parameter'],
      ['server/src/cli/a.ts', `import '../main.ts'`, 'nothing imports main.ts'],
      ['server/src/service/a.ts', `import { b } from '../cli/b.ts'`, 'only main.ts starts'],
      ['server/src/orders/a.ts', `import { b } from '../../test/support/b.ts'`, 'server/src'],
      ['server/src/shared/a.ts', '', 'has no place in the order'],
    ],
    allows: [
      ['server/src/orders/a.ts', `import { b } from '../providers/provider.ts'`],
      ['server/src/sandbox-bank/a.ts', `import { b } from '../db/pool.ts'`],
      ['server/src/service/a.ts', `import { b } from '../sandbox-bank/b.ts'`],
      ['server/src/http/x/a.ts', `import { b } from '../check.ts'\nimport pg from 'pg'`],
      [
        'server/src/cli/a.ts',
        `import { b } from '../config.ts'\nimport { c } from '../service/c.ts'`,
      ],
      ['server/src/service/a.ts', `import { b } from '../http/app.ts'\nimport '../config.ts'`],
      ['server/src/main.ts', `import { b } from './cli/program.ts'`],
      ['server/src/lib/a.test.ts', `import { b } from '../../test/support/b.ts'`],
      ['server/src/lib/a.ts', `// as in '../db/pool.ts', and from '../db/pool.ts'`],
    ],
  },
  {
    guarantee: 'only config.ts reads the environment',
    rule: environment,
    sees: [
      ['server/src/db/a.ts', 'const home = process.env.HOME', 'pass the value in'],
      ['server/src/db/a.ts', `const home = process['env'].HOME`, 'pass the value in'],
      ['server/src/db/a.ts', 'const { env } = process', 'pass the value in'],
      ['server/src/db/a.ts', `import { env } from 'node:process'`, 'pass the value in'],
    ],
    allows: [
      ['server/src/config.ts', 'process.env'],
      ['server/src/lib/a.test.ts', 'process.env.HOME'],
      ['server/bin/sluice.js', 'process.env.HOME'],
    ],
  },
  {
    guarantee: 'no file only hands on what others export',
    rule: noBarrels,
    sees: [
      ['server/src/lib/a.ts', `export * from './b.ts'`, 're-exports'],
      ['server/src/lib/a.ts', `export * as b from './b.ts'`, 're-exports'],
      ['server/src/lib/a.ts', `export {\n  b,\n} from './b.ts'`, 're-exports'],
      ['server/src/lib/a.ts', `export type { B } from './b.ts'`, 're-exports'],
      ['server/src/http/agent-api/index.ts', 'export const a = 1', 'named index'],
    ],
    allows: [['server/src/lib/a.ts', 'const a = 1\nexport { a }\n// export * from b']],
  },
  {
    guarantee: 'file names are in kebab-case and say what is inside',
    rule: fileNames,
    sees: [
      ['server/src/lib/tokenBucket.ts', '', 'kebab-case'],
      ['server/src/lib/token_bucket.ts', '', 'kebab-case'],
      ['server/src/http/agentApi/door.ts', '', 'kebab-case'],
      ['server/src/service/startService.ts', '', 'kebab-case'],
      ['server/src/lib/utils.ts', '', 'says nothing'],
      ['server/src/lib/date-utils.test.ts', '', 'says nothing'],
      ['server/src/orders/order-service.ts', '', 'says nothing'],
      ['server/src/orders/order-manager.ts', '', 'says nothing'],
      ['server/src/orders/service.ts', '', 'says nothing'],
      ['server/src/orders/types.ts', '', 'says nothing'],
      ['server/test/helpers/a.ts', '', 'says nothing'],
    ],
    allows: [
      ['server/src/service/start-service.ts', ''],
      ['server/test/support/service.ts', ''],
      ['server/src/lib/token-bucket.test.ts', ''],
      ['server/src/db/migrations/0001_orders.sql', ''],
    ],
  },
  {
    guarantee: 'types are not silenced',
    rule: typesHold,
    sees: [
      ['server/src/lib/a.ts', 'function a(b: any) {}', 'type any'],
      ['server/src/lib/a.ts', 'const a = b as any', 'type any'],
      ['server/src/lib/a.ts', 'const a = b<any>()', 'type any'],
      ['server/src/lib/a.ts', 'type A = Record<string, any>', 'type any'],
      ['server/src/lib/a.ts', 'const a: any[] = []', 'type any'],
      ['server/src/lib/a.ts', '// @ts-ignore\nfail()', '@ts-ignore'],
      ['server/src/lib/a.ts', '// @ts-expect-error: because\nfail()', '@ts-expect-error'],
    ],
    allows: [
      ['server/src/lib/a.ts', '/** Note: any case. */\nconst a = `where b = any($1)`'],
      ['server/src/lib/a.ts', `const a = 'PORT: any number'`],
    ],
  },
  {
    guarantee: 'sessions do not switch roles',
    rule: noSwitchedRoles,
    sees: [
      ['server/src/orders/a.ts', 'await tx.query(`set role postgres`)', 'switches roles'],
      ['server/src/db/a.ts', `const options = '-c role=sluice_service'`, 'switches roles'],
      ['server/src/db/a.ts', '`set local role none`', 'switches roles'],
      ['server/src/db/a.ts', `\`select set_config('role', $1, true)\``, 'switches roles'],
    ],
    allows: [
      ['server/src/operators/a.ts', '`update users set role = $1`'],
      ['server/src/db/pool.ts', `const options = '-c role=sluice_service'`],
    ],
  },
  {
    guarantee: 'only cli/ prints, in one place',
    rule: output,
    sees: [
      ['server/src/lib/a.ts', `console.log('here')`, 'take the logger'],
      ['server/src/service/a.ts', 'console.error(error)', 'take the logger'],
      ['server/src/cli/zz.ts', 'process.stdout.write(text)', 'as server/src/cli/print.ts does'],
    ],
    allows: [['server/src/cli/print.ts', 'process.stdout.write(text)\nconsole.error(fault)']],
  },
  {
    guarantee: 'every test runs',
    rule: everyTestRuns,
    sees: ['skip', 'only', 'todo', 'skipIf', 'concurrent.only'].map((word) => [
      'server/test/a.test.ts',
      `it.${word}('holds', () => {})`,
      `"it.${word}" keeps tests from running`,
    ]),
    allows: [['server/test/a.test.ts', `it.each([1])('skips only what is to do', () => {})`]],
  },
  {
    guarantee: 'each table is written by one folder',
    rule: oneWriter,
    sees: [
      ['server/src/orders/a.ts', '`insert into journal values ($1)`', 'orders writes the table'],
      [
        'server/src/orders/a.ts',
        '`update\n  sluice.journal j set at = $1`',
        'at server/src/ledger',
      ],
      ['server/src/orders/a.ts', `'DELETE FROM journal'`, 'call a function of that folder'],
      ['server/src/agents/a.ts', '`update wallets set seq = 0`', 'agents writes the table wallets'],
      ['server/src/service/a.ts', '`delete from only journal`', 'the root of src writes'],
      ['server/src/ledger/a.ts', `'insert into \${name} values (1)'`, 'run time'],
    ],
    allows: [
      [
        'server/src/ledger/a.ts',
        '`insert into journal values (1)`\n`update wallets w set seq = 1`',
      ],
      ['server/src/agents/a.ts', '`insert into wallets values ($1)`'],
      ['server/src/orders/a.ts', '`select 1 from journal for update`\n// insert into journal'],
      ['server/src/agents/a.ts', '`insert into keys values (1) on conflict do update set a = 1`'],
    ],
  },
  {
    guarantee: "the bank's book is touched by the bank alone",
    rule: banksOwnBook,
    sees: [
      ['server/src/orders/a.ts', '`select 1 from sandbox_bank.payouts`', 'book of the bank'],
      ['server/src/db/a.ts', `'set search_path to sandbox_bank'`, 'book of the bank'],
    ],
    allows: [
      ['server/src/sandbox-bank/a.ts', '`update sandbox_bank.payouts set state = $1`'],
      ['server/src/db/migrations/0002_bank.sql', 'create schema sandbox_bank'],
    ],
  },
  {
    guarantee: 'http, worker and cli run no SQL',
    rule: noSqlAtTheDoors,
    sees: [
      ['server/src/http/x/a.ts', `await pool.query('select 1')`, 'move the statement'],
      ['server/src/worker/a.ts', 'await pool\n  .query<{ a: string }>(text)', 'move the statement'],
      ['server/src/cli/a.ts', 'client.query(text)', 'move the statement'],
    ],
    allows: [
      ['server/src/http/x/a.ts', `request.query.get('limit')`],
      ['server/src/ledger/a.ts', 'pool.query(text)'],
    ],
  },
  {
    guarantee: 'the database reads no text as JSON',
    rule: textStaysText,
    sees: [
      ['server/src/orders/a.ts', "`select body::json ->> 'a' from notices`", 'JSON.parse'],
      ['server/src/orders/a.ts', '`select $1::jsonb`', 'JSON.parse'],
      ['server/src/orders/a.ts', '`select cast(body as json) from notices`', 'JSON.parse'],
      ['server/src/db/migrations/0002_more.sql', 'select body :: jsonb from notices', 'JSON.parse'],
    ],
    allows: [
      ['server/src/orders/a.ts', '`select json_build_object($1::text, a)::text from b`'],
      ['server/src/db/migrations/0002_more.sql', 'create table a (b json); -- never b::json'],
    ],
  },
  {
    guarantee: 'money is never a float',
    rule: moneyIsExact,
    sees: [
      ['server/src/lib/a.ts', 'parseFloat(text)', 'lib/money.ts'],
      ['server/src/lib/a.ts', 'Number.parseFloat(text)', 'lib/money.ts'],
      ['server/src/lib/a.ts', 'Number(amountMinor)', 'keep the bigint'],
      ['server/src/lib/a.ts', 'Number(order.feeMinor / 100n)', 'keep the bigint'],
    ],
    allows: [['server/src/lib/a.ts', `Number(query.get('limit')) + amountMinor`]],
  },
  {
    guarantee: 'currencies are named in one place',
    rule: currenciesInOnePlace,
    sees: [
      ['server/src/orders/a.ts', `if (currency === 'VND') return 0`, 'names VND'],
      ['server/src/lib/a.ts', 'const digits = { EUR: 2 }', 'currencyRow()'],
      ['console/src/pages/a.tsx', `useDraft('currency', "THB")`, 'or take defaultCurrency'],
      ['sdk/src/a.ts', 'const text = `100 SGD`', 'names SGD'],
    ],
    allows: [
      ['server/src/lib/currencies.ts', `const rows = { EUR: { decimals: 2 } }`],
      ['server/src/lib/a.ts', `// as in THB\nimport { THB_BANKS } from './banks-thb.ts'`],
      ['server/src/lib/a.test.ts', `moneyText(1n, 'THB')`],
    ],
  },
  {
    guarantee: 'every setting is documented',
    rule: settingsAreDocumented,
    sees: [
      ['server/src/config.ts', `const a = text('NEW_ONE')`, 'reads NEW_ONE'],
      ['server/src/config.ts', `const a = oneOf<A>(\n  'NEW_ONE', 'x', [])`, 'reads NEW_ONE'],
      ['server/src/config.ts', `const a = key('KNOWN')`, 'say there what it sets'],
    ],
    allows: [
      ['server/src/config.ts', `const a = number('KNOWN_ONE', 1)\nfaults.push('KNOWN: bad')`],
    ],
  },
  {
    guarantee: 'every migration has a number of its own',
    rule: migrationsAreNumbered,
    sees: [
      ['server/src/db/migrations/0001_second.sql', '', 'has the number of 0001_first.sql'],
      ['server/src/db/migrations/2_more.sql', '', 'name it 0002_what_it_adds.sql'],
      ['server/src/db/migrations/0002-more.sql', '', 'not named like a migration'],
    ],
    allows: [
      ['server/src/db/migrations/0002_more.sql', ''],
      ['server/src/db/migrations/0003_later.sql', ''],
    ],
  },
  {
    guarantee: 'migrations let those work who use the database',
    rule: migrationsLetOthersWork,
    sees: [
      ['create index a on orders (b);', 'concurrently if not exists'],
      ['create unique index a\n  on journal (b) where c is null;', 'nobody can write'],
      ['create index concurrently if not exists a on orders (b);', 'runs in a transaction'],
      ['-- outside a transaction\ncreate index concurrently a on orders (b);', 'run again'],
      ['-- outside a transaction\ndrop index concurrently a;', 'run again'],
      ['alter table orders add constraint a check (b > 0);', 'not valid'],
      [
        'alter table orders add constraint a check (b > 0), add constraint c check (d > 0) not valid;',
        'not valid',
      ],
      ['alter table payments add foreign key (a) references b;', 'not valid'],
      ['alter table orders add column a text check (length(a) < 5);', "new column's constraint"],
      ['alter table orders add column a bigint references agents;', "new column's constraint"],
      ['alter table orders add column a uuid default gen_random_uuid();', 'writes all of it anew'],
      ['alter table orders alter column a type bigint;', 'writes all of it anew'],
      ['alter table orders alter column a set not null;', 'reads all of it'],
      ['-- why\nupdate callbacks set a = 1;', 'page by page'],
    ].map(([text = '', says = '']) => ['server/src/db/migrations/0010_new.sql', text, says]),
    allows: [
      'create table a (b int check (b > 0)); create index c on a (b);',
      '-- outside a transaction\ncreate index concurrently if not exists a on orders (b);',
      'alter table orders add constraint a check (b > 0) not valid, add column c int not null default 0;',
      'alter table orders validate constraint a;',
      'alter table orders add constraint a primary key using index b, drop constraint c;',
      'alter table orders set (fillfactor = 90);',
      'create index a on agents (b);',
      '-- update callbacks set a = 1;\ninsert into agents select 1 from orders;',
    ].map((text) => ['server/src/db/migrations/0010_new.sql', text]),
  },
]

/** What every sample is added to. */
const neighbours: Source[] = [
  { path: 'server/src/ledger/write.ts', text: '`insert into journal values (1)`' },
  { path: 'server/src/ledger/store.ts', text: '`update wallets set seq = 1`' },
  { path: 'server/src/lib/zone.ts', text: `import type { A } from './round.ts'` },
  { path: 'server/src/db/migrations/0001_first.sql', text: '' },
  { path: 'server/src/cli/print.ts', text: 'process.stdout.write(text)' },
  { path: 'docs/operate.md', text: 'Set `KNOWN_ONE` to 1.' },
]

const repository = readRepository()

describe.each(rules)('$guarantee', ({ rule, sees, allows }) => {
  it('in every file', () => {
    expect(rule(repository)).toEqual([])
  })

  it.each(sees)('the rule sees %s: %s', (path, text, says) => {
    const found = rule(withNeighbours({ path, text }))
    expect(found).toEqual([expect.stringContaining(says)])
    expect(found[0]).toMatch(new RegExp(`^${path}:\\d+: `))
  })

  it.each(allows)('the rule allows %s: %s', (path, text) => {
    expect(rule(withNeighbours({ path, text }))).toEqual([])
  })
})

it('the rules look at the files they are about', () => {
  const paths = repository.map((file) => file.path)
  expect(paths).toContain('server/src/config.ts')
  expect(paths).toContain('server/src/db/migrations/0001_orders_and_ledger.sql')
  expect(paths).toContain('server/test/house/house-rules.test.ts')
  const undocumented = settingsAreDocumented(
    repository.filter((file) => file.path === 'server/src/config.ts'),
  )
  expect(undocumented.join('\n')).toContain('reads DATABASE_URL,')
  const twice = repository.map((file) => ({
    ...file,
    path: file.path.replace('/ledger/', '/orders/'),
  }))
  expect(oneWriter([...repository, ...twice]).join('\n')).toContain('writes the table journal')
})

function withNeighbours(sample: Source): Source[] {
  return [...neighbours.filter((file) => file.path !== sample.path), sample]
}

/** The files of every workspace, and the pages for whoever runs the service. */
function readRepository(): Source[] {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const pages = ['README.md', 'docs/operate.md'].filter((path) => existsSync(join(root, path)))
  return [...workspaces.flatMap(filesUnder), ...pages].map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (/^(node_modules|dist|data|\..*)$/.test(entry.name)) return []
    if (entry.isDirectory()) return filesUnder(path)
    return /\.(tsx?|m?js|sql)$/.test(entry.name) ? [path] : []
  })
}

function inSource(files: Source[]): Source[] {
  return files.filter((file) => /^server\/src\/.*\.tsx?$/.test(file.path))
}

function isTest(path: string): boolean {
  return /\.test\.\w+$/.test(path)
}

/** The folder of server/src that a file is in, or else its name at the root, to which the wiring belongs. */
function placeOf(path: string): { folder: string | undefined; file: string | undefined } {
  const [first, ...rest] = path.replace('server/src/', '').split('/')
  return rest.length > 0 && first !== wiring
    ? { folder: first, file: undefined }
    : { folder: undefined, file: first }
}

/** The text with its comments blanked, so that lines keep their numbers. */
function code({ text }: Source): string {
  return text
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, '$1')
}

function matches(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map((match) => {
    const start = match.index + (match[0].length - match[0].trimStart().length)
    return { match, line: text.slice(0, start).split('\n').length }
  })
}

/** A message for each match that `say` has something to say about. */
function find(
  file: Source,
  pattern: RegExp,
  say: (match: RegExpExecArray) => string | undefined,
  text = code(file),
): string[] {
  return matches(text, pattern).flatMap(({ match, line }) => {
    const message = say(match)
    return message === undefined ? [] : [`${file.path}:${line}: ${message}`]
  })
}
