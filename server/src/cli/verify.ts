import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { proveWithBooks } from '../archive/prove-with-books.ts'
import { type Heads, parseHeads, proveHeads } from '../proof/heads.ts'
import { verify } from '../proof/verify.ts'
import { existing } from './agent.ts'
import { withBackend } from './command.ts'
import { note, print, printJson, progress } from './output.ts'
import { UsageError } from './usage-error.ts'

interface VerifyOptions {
  agent?: string
  archive?: string
  heads?: string
  json?: boolean
}

async function readKept(path: string): Promise<Heads[]> {
  try {
    return parseHeads(await readFile(path, 'utf8'))
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    throw new UsageError(`--heads ${path} cannot be read: ${fault}`)
  }
}

export function verifyCommand(): Command {
  return new Command('verify')
    .option('--agent <app_id>', 'only this agent')
    .option(
      '--archive <dir>',
      'also prove the files of the archive, and that the books continue where they end',
    )
    .option('--heads <file>', 'also prove that the chains contain what "sluice heads" once wrote')
    .option('--json', 'as JSON')
    .action(async (options: VerifyOptions) => {
      if (options.heads !== undefined && options.agent !== undefined) {
        throw new UsageError('--heads is about every book: leave --agent out')
      }
      const kept = options.heads === undefined ? [] : await readKept(options.heads)
      await withBackend(async ({ pool }) => {
        if (options.agent !== undefined) await existing(pool, options.agent)
        const started = performance.now()
        const proofs = await verify(pool, {
          ...(options.agent !== undefined && { appId: options.agent }),
          onProgress: (proof, journalRows) =>
            progress(
              `${proof.appId}: ${proof.journalRows} of ${journalRows} journal rows, ${proof.orders} orders, ${proof.payments} payments`,
            ),
        })
        const heads = await proveHeads(pool, kept)
        const archives =
          options.archive === undefined
            ? []
            : await proveWithBooks(pool, resolve(options.archive), {
                hashes: heads.archived,
                ...(options.agent !== undefined && { appId: options.agent }),
                onProgress: ({ appId, parts }) =>
                  progress(`${appId}: part ${parts} of the archive`),
              })
        progress('')
        const sum = (count: (proof: (typeof proofs)[number]) => number) =>
          proofs.reduce((total, proof) => total + count(proof), 0)
        const unread =
          options.archive === undefined
            ? [...heads.archived].map(([book, rows]) => ({
                book,
                finding: `${rows.size} rows whose hash was kept are archived: prove them with --archive DIR`,
              }))
            : []
        const ofHeads = [...heads.findings, ...unread].map(({ book, finding }) => ({
          appId: book,
          finding,
        }))
        const red = [
          ...[...proofs, ...archives].filter(({ finding }) => finding !== null),
          ...ofHeads,
        ]
        const checked = {
          agents: proofs.length,
          journal_rows: sum((proof) => proof.journalRows),
          orders: sum((proof) => proof.orders),
          callbacks: sum((proof) => proof.callbacks),
          payments: sum((proof) => proof.payments),
          ...(options.archive !== undefined && {
            archived_journal_rows: archives.reduce((total, each) => total + each.journalRows, 0),
            archived_orders: archives.reduce((total, each) => total + each.orders, 0),
          }),
          ...(options.heads !== undefined && { heads: heads.heads }),
          seconds: Math.round((performance.now() - started) / 100) / 10,
        }
        const findings = red.map(({ appId, finding }) => ({ app_id: appId, finding }))
        if (options.json) printJson({ ok: red.length === 0, checked, findings })
        else {
          print(
            `Checked ${checked.agents} agents, ${checked.journal_rows} journal rows, ${checked.orders} orders, ${checked.callbacks} callbacks and ${checked.payments} payments in ${checked.seconds} s.`,
          )
          if (options.archive !== undefined) {
            print(
              `And ${checked.archived_journal_rows} journal rows and ${checked.archived_orders} orders in the archive.`,
            )
          }
          for (const { app_id, finding } of findings) note(`${app_id}: ${finding}`)
          print(red.length === 0 ? 'Every balance is proved.' : 'The ledger does NOT prove.')
        }
        if (red.length > 0) process.exitCode = 1
      })
    })
}
