import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './src/db/schemas.ts',
    './src/sync/tables.ts',
    './src/sync/watch-tables.ts',
    './src/sync/growth/tables.ts',
    './src/sync/raw/tables.ts',
    './src/sync/privacy/tables.ts',
    './src/resources/*/tables.ts',
  ],
  out: './migrations',
  schemaFilter: ['game', 'sync'],
})
