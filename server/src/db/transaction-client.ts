import pg from 'pg'
import type { DatabaseGate } from './database-gate.ts'

type Callback = (error: Error | null, result?: pg.QueryResult) => void

/**
 * The client of a pool whose pooler gives each transaction another session. Nothing may be left in a session, nor be
 * expected of one: every transaction begins with its settings, which end with it; a statement alone becomes a transaction;
 * and no statement is prepared under a name. All goes out without waiting for answers: where the beginning fails, PostgreSQL
 * refuses what follows.
 */
export function transactionClient(
  beginning: () => string,
  gate: DatabaseGate | undefined,
): typeof pg.Client {
  return class TransactionClient extends pg.Client {
    /** The beginning of the transaction that is open. */
    private begun: Promise<unknown> | undefined

    constructor(config?: string | pg.ClientConfig) {
      super(config)
      // The library has many ways to call it, and a method that overrides it would have to repeat them all.
      Object.assign(this, { query: (...given: unknown[]) => this.answer(given) })
    }

    private answer(given: unknown[]): Promise<pg.QueryResult> | undefined {
      const callback = typeof given.at(-1) === 'function' ? (given.pop() as Callback) : undefined
      const [asked, values] = given as [string | pg.QueryConfig, unknown[]?]
      const { name: _name, ...query } = typeof asked === 'string' ? { text: asked } : asked
      const answered = this.run(values === undefined ? query : { ...query, values }, query.text)
      if (!callback) return answered
      answered.then((answer) => callback(null, answer), callback)
      return undefined
    }

    private run(query: pg.QueryConfig, text: string): Promise<pg.QueryResult> {
      if (/^begin\b/.test(text)) {
        this.begun = this.begin(text)
        this.begun.catch(() => {})
        return this.begun as Promise<pg.QueryResult>
      }
      if (!this.begun) return this.alone(query)
      const answer = this.after(this.begun, super.query(query))
      if (/^(commit|rollback)\b/.test(text)) this.begun = undefined
      return answer
    }

    private async alone(query: pg.QueryConfig): Promise<pg.QueryResult> {
      const begun = this.begin('begin')
      const answered = super.query(query)
      const ended = super.query('commit')
      ended.catch(() => {})
      const answer = await this.after(begun, answered)
      const { command } = await ended
      if (command !== 'COMMIT') throw new Error(`commit was answered with ${command}`)
      return answer
    }

    private async begin(text: string): Promise<unknown> {
      try {
        return await super.query(`${text}; select ${beginning()}, ${gate?.proofOfServer ?? '1'}`)
      } catch (error) {
        // A division by nothing: see the gate.
        throw gate && Object(error).code === '22012' ? gate.stranger() : error
      }
    }

    /** What a statement answered, or why its transaction did not begin. */
    private async after<T>(begun: Promise<unknown>, answered: Promise<T>): Promise<T> {
      answered.catch(() => {})
      await begun
      return answered
    }
  }
}
