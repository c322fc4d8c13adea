-- migrate:up

-- Spreadsheets also run what follows a line feed, and take the full-width forms of = + - @ for the plain ones.
create or replace function csv_cell(value text) returns text
language sql immutable parallel safe
return case
  when value ~ '^[=+@\t\r\n''＝＋－＠-]' then '"''' || replace(value, '"', '""') || '"'
  when value = '' or value ~ '[",\r\n]' then '"' || replace(value, '"', '""') || '"'
  else value
end;

-- migrate:down

create or replace function csv_cell(value text) returns text
language sql immutable parallel safe
return case
  when value ~ '^[=+@\t\r''-]' then '"''' || replace(value, '"', '""') || '"'
  when value = '' or value ~ '[",\r\n]' then '"' || replace(value, '"', '""') || '"'
  else value
end;
