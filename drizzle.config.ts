import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/db/schemas.ts', './src/sync/tables/*.ts', './src/resources/*/tables.ts'],
  out: './migrations',
  // For `npx drizzle-kit studio`; nothing else here connects.
  dbCredentials: { url: process.env.DATABASE_URL ?? 'postgres://wynnsync:wynnsync@127.0.0.1:5432/wynnsync' },
  schemaFilter: ['game', 'sync'],
})
