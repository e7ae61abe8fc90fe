import type { CommandDeclaration } from '../../command.ts'
import { option, webOptions } from '../../options.ts'

export const serve: CommandDeclaration = {
  usage: 'serve',
  summary: 'serve pages and a read API over HTTP',
  options: [
    option('--port <number>', 'port to listen on (default: 8080; 0 takes a free one)'),
    option('--host <address>', 'address to listen on (default: 127.0.0.1; with --public 0.0.0.0)'),
    option('--export <folder>', 'write all pages as files into a folder instead, for a site without a database'),
    ...webOptions,
  ],
  notes: `--export needs an empty folder, or one of an earlier export, whose files it replaces at the end. http://127.0.0.1:8080/ begins the pages. /api/v1/<question>?argument=value answers every question of wynnsync query as JSON,
CSV or NDJSON (format=csv, format=ndjson); /openapi.json describes all. --mcp answers assistants at /mcp, which needs the package
@modelcontextprotocol/sdk. wynnsync start --web-port serves in the process that syncs.`,
  examples: [
    'wynnsync serve --port 8080',
    'curl "http://127.0.0.1:8080/api/v1/territory_owner_at?territory=Detlas&at=-1d"',
    'curl "http://127.0.0.1:8080/api/v1/territory_capture?order=captured_at.desc&limit=1000&format=csv"',
    'wynnsync serve --public --no-people --cors https://example.org',
    'wynnsync serve --mcp',
    'wynnsync serve --export ./site --no-people',
  ],
  load: async () => (await import('./serve-command.ts')).serveCommand,
}
