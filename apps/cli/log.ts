import { Command } from 'commander';
import { verifyCommand } from './log-verify.ts';

export function logCommand(): Command {
  return new Command('log').description('the sealed log: what proves a record').addCommand(verifyCommand());
}
