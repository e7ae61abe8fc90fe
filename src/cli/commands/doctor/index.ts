import type { CommandDeclaration } from '../../command.ts'
import { concurrency, wide } from '../../options.ts'

export const doctor: CommandDeclaration = {
  usage: 'doctor',
  summary: 'check database, disk, proxy, API, clock, headers and credential',
  options: [concurrency, wide],
  examples: ['wynnsync doctor', 'wynnsync doctor --json'],
  load: async () => (await import('./doctor-command.ts')).doctorCommand,
}
