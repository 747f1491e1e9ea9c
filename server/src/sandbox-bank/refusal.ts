/** What the bank will not do, told to whoever asked. */
export class Refusal extends Error {
  readonly status: 400 | 401 | 404 | 409

  constructor(status: Refusal['status'], message: string) {
    super(message)
    this.status = status
  }
}
