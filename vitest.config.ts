import { defineConfig } from 'vitest/config'
import { builtFiles, loadBuilt } from './server/test/support/load-built.ts'
import { LongestFirst } from './server/test/support/longest-first.ts'

export default defineConfig({
  plugins: [loadBuilt],
  test: {
    include: ['server/src/**/*.test.ts', 'server/test/**/*.test.ts', 'sdk/test/**/*.test.ts'],
    setupFiles: ['server/test/support/collect-statements.ts'],
    globalSetup: ['server/test/support/global-setup.ts'],
    // How long a thing takes is no promise: these only end what hangs, on the slowest machine too.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    // A browser that loses a key press on a busy machine is asked once more, and the report says
    // so; a wrong value never is. A test that has written something by then may say something else
    // the second time: the first message counts.
    retry: { count: 1, condition: /^(locator|page)\.\w+: Timeout \d+ms exceeded/ },
    // More than cores: much of what is tested waits.
    maxWorkers: 4,
    // Loading the service takes longer than most files; no file leaves anything behind in the process.
    isolate: false,
    server: { deps: { external: [builtFiles] } },
    sequence: { sequencer: LongestFirst },
  },
})
