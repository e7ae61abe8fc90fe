import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const mcp: CommandDeclaration = {
  usage: 'mcp',
  summary: 'the questions as tools for assistants, over stdin and stdout',
  options: [option('--no-people', 'leave out every answer about a single player')],
  notes: `The Model Context Protocol, read-only: one tool for each question of wynnsync query. An assistant starts this command; it
needs the package @modelcontextprotocol/sdk beside wynnsync.`,
  examples: ['npm install @modelcontextprotocol/sdk', 'wynnsync mcp', 'wynnsync mcp --no-people'],
  load: async () => (await import('./mcp-command.ts')).mcpCommand,
}
