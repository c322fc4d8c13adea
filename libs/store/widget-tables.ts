import type { Table } from './tables.ts';

export const tables: Table[] = [{ name: 'widget_files' }];
