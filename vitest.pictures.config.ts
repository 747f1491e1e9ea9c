import { defineConfig } from 'vitest/config'

/** `npm run pictures`: takes the pictures of docs/pictures anew. */
export default defineConfig({
  test: {
    include: ['server/test/docs/take-pictures.ts'],
    globalSetup: ['server/test/support/global-setup.ts'],
    testTimeout: 120_000,
  },
})
