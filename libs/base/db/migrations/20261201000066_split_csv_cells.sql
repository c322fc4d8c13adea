-- migrate:up

-- Where a spreadsheet splits lines at semicolons, tabs or bars, what follows one of these, or a line break, begins a cell.
create or replace function csv_cell(value text) returns text
language sql immutable parallel safe
return case
  when value = '' then '""'
  when value ~ '^[=+@\t\r\n''＝＋－＠-]|[",;|\t\r\n]' then
    '"' || case when value ~ '^[=+@\t\r\n''＝＋－＠-]' then '''' else '' end
    || replace(regexp_replace(value, '([;\t|\r\n][" \t\r\n]*)(?=[=+@\t\r\n''＝＋－＠-])', '\1''', 'g'), '"', '""') || '"'
  else value
end;

-- migrate:down

create or replace function csv_cell(value text) returns text
language sql immutable parallel safe
return case
  when value ~ '^[=+@\t\r\n''＝＋－＠-]' then '"''' || replace(value, '"', '""') || '"'
  when value = '' or value ~ '[",\r\n]' then '"' || replace(value, '"', '""') || '"'
  else value
end;
