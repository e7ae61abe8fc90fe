import type { CommandDeclaration, CommandGroup } from '../../command.ts'

export const completion: CommandDeclaration = {
  usage: 'completion <shell>',
  summary: 'print the completion script for bash, zsh or fish',
  notes: `bash: source <(wynnsync completion bash)  in ~/.bashrc
zsh:  source <(wynnsync completion zsh)   in ~/.zshrc, after compinit
fish: wynnsync completion fish > ~/.config/fish/completions/wynnsync.fish

Commands, flags, resources and questions are completed, and from a server (DATABASE_URL) the names that it knows.`,
  examples: ['wynnsync completion bash', 'wynnsync completion fish > wynnsync.fish'],
  load: async () => (await import('./completion-scripts.ts')).completionCommand,
}

/** What the scripts run: the words of the command line, of which the last is to be completed. @param all every command */
export function completeOf(all: () => readonly (CommandDeclaration | CommandGroup)[]): CommandDeclaration {
  return {
    usage: '__complete [words...]',
    isHidden: true,
    summary: 'the words that may follow, for the scripts of `completion`',
    examples: ['wynnsync __complete -- query terr'],
    load: async () => (await import('./complete-command.ts')).completeCommand(all()),
  }
}
