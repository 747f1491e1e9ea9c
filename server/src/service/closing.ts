/** Closes the parts of a service in reverse order of opening. */
export class Closing {
  private readonly steps: (() => Promise<unknown>)[] = []
  private begun = false

  /** Whether the service is closing: it finishes running work and should get no new work. */
  get hasBegun(): boolean {
    return this.begun
  }

  /** Registers how to close a part that has been opened. */
  add(close: () => Promise<unknown>): void {
    this.steps.push(close)
  }

  begin(): void {
    this.begun = true
  }

  async close(): Promise<void> {
    this.begin()
    for (let step = this.steps.pop(); step; step = this.steps.pop()) await step()
  }
}
