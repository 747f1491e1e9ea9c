import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { visitMs } from '../../src/bank-accounts/sftp-session.ts'
import { BankInbox } from '../../src/payments/fetch-bank-files.ts'
import { putDueFiles } from '../../src/payout-files/put-file.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type PayingAccount, pain002, payingAccount, withdrawals } from '../support/payout-files.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { type Sshd, sshdPath, startSshd } from '../support/sshd.ts'

let s: TestService
let agent: AgentClient
let maker: OperatorClient
let checker: OperatorClient
let sshd: Sshd
let account: PayingAccount

beforeAll(async () => {
  if (sshdPath === undefined) return
  // Without a worker, which visits the bank's server too, at times of its own.
  s = await startTestService({ env: { ROLE: 'api' } })
  agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(1_000_000)
  maker = await signIn(s, 'operator')
  checker = await signIn(s, 'admin')
  sshd = await startSshd(sshdPath)
  account = await payingAccount(
    s,
    {
      ...{ sftpHost: '127.0.0.1', sftpPort: sshd.port, sftpUser: sshd.user },
      ...{ sftpHostKey: sshd.hostKey, payoutCutoffs: '00:01' },
      ...{ sftpPutFolder: join(sshd.folder, 'in'), sftpGetFolder: join(sshd.folder, 'out') },
    },
    sshd.privateKey,
  )
})
afterAll(async () => {
  if (sshdPath === undefined) return
  await s.prove()
  await sshd.close()
  await s.close()
})

const never = (error: unknown) => {
  throw error
}

/** Approves a file of one withdrawal and has it sent. */
async function sending(amount: number): Promise<{ file: Answer; path: string }> {
  await withdrawals(s, agent, account, amount)
  const { json } = await maker.post('/payout-files', { account: account.name })
  const code = checker.code()
  const file = await checker.post(`/payout-files/${json.id}/approve`, { digest: json.digest, code })
  const body = { reason: 'today’s payouts', code: maker.code() }
  expect((await maker.post(`/payout-files/${json.id}/send`, body)).status).toBe(200)
  return { file, path: join(sshd.folder, 'in', file.json.sealed.name) }
}

const putOf = async ({ json }: Answer) => (await maker.get(`/payout-files/${json.id}`)).json.put

/** Goes on until a try has failed, or the file has arrived. */
async function until(file: Answer, is: (put: { state: string; fault: string | null }) => boolean) {
  await expect
    .poll(
      async () => {
        s.clock.advance(60_000)
        await putDueFiles(s.service.desk, never)
        return is(await putOf(file))
      },
      { interval: 50 },
    )
    .toBe(true)
}

const promise =
  sshdPath === undefined
    ? 'this machine has no sshd: install openssh-server, or set SSHD_PATH, to try puts against one'
    : 'by a real sshd a file arrives once, whole, wherever the wire is cut'

it(promise, async () => {
  if (sshdPath === undefined) return
  const arrived = (put: { state: string }) => put.state === 'arrived'
  const failed = (put: { fault: string | null }) => put.fault !== null

  const plain = await sending(100)
  await until(plain.file, arrived)
  expect(await readdir(join(sshd.folder, 'in'))).toEqual([plain.file.json.sealed.name])
  const bytes = await readFile(plain.path, 'utf8')
  expect(bytes).toContain(plain.file.json.items[0].code)

  // Cut when its temporary name is there, before the bytes are.
  const broken = await sending(110)
  sshd.cuts = (from) => from === 'client' && existsSync(`${broken.path}.tmp`)
  await until(broken.file, failed)
  expect((await stat(`${broken.path}.tmp`)).size).toBe(0)
  sshd.cuts = () => false
  s.clock.advance(visitMs * 3)
  await until(broken.file, arrived)
  expect(await readFile(broken.path, 'utf8')).toContain(broken.file.json.items[0].code)
  expect(existsSync(`${broken.path}.tmp`)).toBe(false)

  // Cut when it has its name, before the server says so: what is there is not put again.
  const named = await sending(120)
  sshd.cuts = (from) => from === 'server' && existsSync(named.path)
  await until(named.file, failed)
  const { ino, mtimeMs } = await stat(named.path)
  sshd.cuts = () => false
  s.clock.advance(visitMs * 3)
  await until(named.file, arrived)
  expect(await stat(named.path)).toMatchObject({ ino, mtimeMs })

  // A file of somebody else under our name is left as it is.
  const foreign = await sending(130)
  await writeFile(foreign.path, 'of somebody else')
  await until(foreign.file, (put) => put.state === 'held')
  expect(await readFile(foreign.path, 'utf8')).toBe('of somebody else')

  // And what the bank puts there is fetched, and counts.
  const { message_id } = plain.file.json.sealed
  await writeFile(join(sshd.folder, 'out', '1.xml'), pain002(message_id, { group: 'ACCP' }))
  const box = new BankInbox(s.service.desk, 'sandbox', 0, () => {}, never)
  await box.poll()
  await box.poll()
  const { json } = await maker.get(`/payout-files/${plain.file.json.id}`)
  expect(json).toMatchObject({ state: 'acknowledged', items: [{ state: 'accepted' }] })
})
