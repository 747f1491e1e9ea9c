/** A request that the bank refuses, with the reason for the caller. */
export class Refusal extends Error {
  readonly status: 400 | 401 | 404 | 409

  constructor(status: Refusal['status'], message: string) {
    super(message)
    this.status = status
  }
}
