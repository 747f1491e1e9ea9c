/** How a service ends: what was opened last is closed first. */
export class Closing {
  private readonly steps: (() => Promise<unknown>)[] = []
  private begun = false

  /** Whether the service is about to end: what is under way is finished, and nothing new should come. */
  get hasBegun(): boolean {
    return this.begun
  }

  /** Every part that opens something says here how it is closed. */
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
