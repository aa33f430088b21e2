-- Written by pavior slurm install, checksum @CHECKSUM@.
-- The gate for @MACHINE@: partition @PARTITION@, licence @LICENCE@.
--
-- It gives every job of the partition the licence that the job waits for, and exactly the nodes of
-- its box, and refuses what the daemon could not know when it chooses nodes. job_submit.lua ends
-- with these lines, before it returns:
--
--   local pavior = dofile("/etc/slurm/@MODULE@")
--   slurm_job_submit = pavior.submit(slurm_job_submit)
--   slurm_job_modify = pavior.modify(slurm_job_modify)
--
-- Each takes the function that job_submit.lua has itself, or nil. That one is called first: the
-- gate sees the job as it is handed to Slurm.

local PARTITIONS = { @PARTITIONS@ }
local MACHINE = "@MACHINE@"
local SIDES = { @SIDES@ }
local LICENCE = "@LICENCE@"
local CHECKSUM = "@CHECKSUM@"

-- Who may change what waits: root, and the user of slurmctld, which runs this.
local operators = { [0] = true }
local status = io.open("/proc/self/status")
if status ~= nil then
  local effective = string.match(status:read("*a"), "\nUid:%s*%d+%s+(%d+)")
  status:close()
  if effective ~= nil then operators[tonumber(effective)] = true end
end

local own = {}
for _, name in ipairs(PARTITIONS) do own[name] = true end
local SHOWN = table.concat(PARTITIONS, ", ")

-- The partitions of all machines whose gates are loaded: a shape is for one of them.
pavior_partitions = pavior_partitions or {}
for _, name in ipairs(PARTITIONS) do pavior_partitions[#pavior_partitions + 1] = name end

local function say(text)
  -- The text may hold a percent sign of the user's.
  slurm.log_user("%s", "pavior: " .. text)
end

local function refuse(text)
  say(text)
  return slurm.ERROR
end

-- Whether a field is not set: absent, or one of Slurm's values for that, of 16 and of 32 bits.
local function unset(value)
  return value == nil or value == 65534 or value == 65535
    or value == 4294967294 or value == 4294967295
end

-- Whether a text has characters that end lines or that terminals obey: the control characters of
-- ASCII, and those of UTF-8 from U+0080 to U+009F.
local function has_controls(text)
  text = text or ""
  return string.find(text, "[\1-\31\127]") ~= nil or string.find(text, "\194[\128-\159]") ~= nil
end

local CONTROLS = "a comment cannot have line breaks or other control characters"

-- Whether the job is for this machine's partitions, whether for others too, and whether for some
-- machine's.
local function concerns(partition, parts)
  local names = {}
  for name in string.gmatch(partition or "", "[^,]+") do names[#names + 1] = name end
  if #names == 0 then
    for name, part in pairs(parts) do
      if part.flag_default ~= 0 then names[1] = name end
    end
  end
  local mine, others, some = false, #names > 1, false
  for _, name in ipairs(names) do
    if own[name] then mine = true end
    for _, placed in ipairs(pavior_partitions) do
      if name == placed then some = true end
    end
  end
  return mine, others, some
end

-- The sides, in the order in which both are compared: descending.
local function descending(list)
  local copy = {}
  for i, side in ipairs(list) do copy[i] = side end
  table.sort(copy, function(a, b) return a > b end)
  return copy
end

local function fits(sides)
  local asked, machine = descending(sides), descending(SIDES)
  for i = 1, #asked do
    if asked[i] > machine[i] then return false end
  end
  return true
end

-- The nodes of the smallest box for a count.
local function box_for(count)
  local a_most, b_most, c_most = SIDES[1], SIDES[2] or 1, SIDES[3] or 1
  local best = nil
  for a = 1, a_most do
    for b = 1, b_most do
      local c = math.max(1, math.ceil(count / (a * b)))
      if c <= c_most then
        local volume = a * b * c
        if best == nil or volume < best then best = volume end
      end
    end
  end
  return best
end

-- What stands behind the next word `shape` of a comment from a place on, and where; nil if there is
-- none. The daemon reads comments by the same grammar.
local function next_shape(comment, from)
  while true do
    local first, last = string.find(comment, "[Ss][Hh][Aa][Pp][Ee]", from)
    if first == nil then return nil end
    from = last + 1
    local before = string.sub(comment, first - 1, first - 1)
    local behind = string.sub(comment, last + 1)
    local letter = string.find(string.gsub(behind, "^[Ss]", ""), "^[A-Za-z]")
    if not letter and not string.find(before, "^[0-9A-Za-z_]") then return behind, from end
  end
end

-- The sides behind the word, as they are written; nil and what is wrong; nil and nil if no sides
-- are meant.
local function sides_text(behind)
  local rest = string.gsub(behind, "^[Ss]", "")
  local between, text = string.match(rest, "^([^0-9A-Za-z,;]*)(.*)$")
  if rest ~= behind or not string.find(between, "^ *= *$") then
    if string.find(text, "^[0-9]") or string.find(between, "=", 1, true) then
      return nil, "a shape is written as shape=4x4"
    end
    return nil, nil
  end
  local sides, tail = string.match(text, "^([^ ,;]*)(.*)$")
  if string.find(tail, "^ *[xX*] *[0-9]") then
    return nil, "a shape is written without spaces, as 4x4"
  end
  return sides, nil
end

-- The shape of a comment: its sides, or nil and what is wrong; nil and nil if there is none.
local function shape_of(comment)
  local found, from, behind = nil, 1, nil
  while true do
    behind, from = next_shape(comment or "", from)
    if behind == nil then break end
    local text, fault = sides_text(behind)
    if fault ~= nil then return nil, fault end
    if text ~= nil and found ~= nil then return nil, "the comment names two shapes" end
    found = text or found
  end
  if found == nil then return nil, nil end
  local sides = {}
  for side in string.gmatch(string.gsub(found, "X", "x") .. "x", "([^x]*)x") do
    if not string.find(side, "^[0-9]+$") then
      return nil, "'" .. found .. "' is not a shape; write one like 4x4"
    end
    if #side > 5 or tonumber(side) < 1 or tonumber(side) > 65535 then
      return nil, "a side of " .. found .. " is not 1 to 65535"
    end
    sides[#sides + 1] = tonumber(side)
  end
  if #sides ~= #SIDES then
    return nil, found .. " has " .. #sides .. " sides, but " .. MACHINE .. " has " .. #SIDES .. " axes"
  end
  return sides, nil
end

-- Demands that Slurm makes of nodes and that the daemon cannot see, by the field that holds them.
-- For numbers, the greatest that every node meets.
local TEXTS = {
  { "prefer", "--prefer" },
  { "batch_features", "--batch" },
  { "tres_per_job", "--gpus" },
  { "tres_per_socket", "--gpus-per-socket" },
  { "mem_per_tres", "--mem-per-gpu" },
  { "cpus_per_tres", "--cpus-per-gpu" },
}
local NUMBERS = {
  { "min_mem_per_cpu", "--mem-per-cpu", 0 },
  { "sockets_per_board", "--sockets-per-board", 1 },
  { "boards_per_node", "--boards-per-node", 1 },
  { "ntasks_per_socket", "--ntasks-per-socket", 0 },
  { "ntasks_per_tres", "--ntasks-per-gpu", 0 },
  { "core_spec", "--core-spec", 0 },
  { "thread_spec", "--thread-spec", 0 },
}
-- Other wishes for where nodes lie, by the least value that is one.
local PLACES = {
  { "contiguous", "--contiguous", 1 },
  { "req_switch", "--switches", 1 },
  { "segment_size", "--segment", 1 },
  { "shared", "--exclusive=topo", 4 },
}

-- What of a job, or of a change of one, the daemon could not know.
local function unknowable(job)
  local instead = "; say what each node must have: --gres, --gpus-per-node, --mem, --mincpus, --constraint"
  for _, field in ipairs(TEXTS) do
    if (job[field[1]] or "") ~= "" then return field[2] .. " is not known to the daemon" .. instead end
  end
  for _, field in ipairs(NUMBERS) do
    local value = job[field[1]]
    if not unset(value) and value > field[3] then
      return field[2] .. " is not known to the daemon" .. instead
    end
  end
  for _, field in ipairs(PLACES) do
    if not unset(job[field[1]]) and job[field[1]] >= field[3] then
      return "the nodes of a box lie as its shape says; leave " .. field[2] .. " out"
    end
  end
  -- From 23.11 on --cpus-per-task is written here as well.
  local task = job.tres_per_task or ""
  if task ~= "" and not string.find(task, "^cpu[=:][0-9]+$") then
    return "--gpus-per-task and --tres-per-task are not known to the daemon" .. instead
  end
  if string.find(job.features or "", "[^0-9A-Za-z_.:=/+%%@&|(),-]") then
    return "a constraint is made of features, &, |, commas and parentheses: "
      .. "all nodes of a box are chosen alike"
  end
  if string.find(job.exc_nodes or "", "[^0-9A-Za-z_.,%[%]-]") then
    return "--exclude is a list of nodes, such as n[00-03,07]"
  end
  return nil
end

-- How many nodes a job gets; nil and what is wrong.
local function nodes_of(job, sides)
  local least = not unset(job.min_nodes) and job.min_nodes > 0 and job.min_nodes or nil
  local most = not unset(job.max_nodes) and job.max_nodes > 0 and job.max_nodes or nil
  if sides then
    local nodes = 1
    for _, side in ipairs(sides) do nodes = nodes * side end
    if least and least > 1 and least ~= nodes or most and most > 1 and most ~= nodes then
      return nil, "the shape has " .. nodes .. " nodes, but -N says otherwise; leave -N out"
    end
    return nodes
  end
  if not least and not unset(job.num_tasks) and job.num_tasks > 1 then
    return nil, "say how many nodes: -N 4, or --comment=shape=2x2"
  end
  local count = math.max(least or 1, most or 1)
  local nodes = box_for(count)
  if nodes == nil then return nil, count .. " nodes are more than " .. MACHINE .. " has" end
  if nodes ~= count then
    if most and most > (least or 1) then
      -- Slurm may have been told of single numbers, such as 3,5: it would not take another one.
      return nil, "no box has " .. count .. " nodes; the next has " .. nodes .. ": ask for -N " .. nodes
    end
    say(count .. " nodes become a box of " .. nodes)
  end
  return nodes
end

local function licences_of(job)
  if string.find(job.licenses or "", "[^%w_.@:=,;/-]") then
    return nil, "write licences as NAME or NAME:COUNT, with commas between them"
  end
  for name in string.gmatch(job.licenses or "", "[^,;:@=]+") do
    if name == LICENCE then return nil, "the licence " .. LICENCE .. " is not yours to ask for" end
  end
  local gate = LICENCE .. ":1"
  return (job.licenses or "") == "" and gate or job.licenses .. "," .. gate
end

-- The gate for a job that is submitted.
local function submit(job, parts)
  local mine, others, some = concerns(job.partition, parts)
  local sides, fault = shape_of(job.comment)
  if not mine then
    if (sides or fault) and not some then
      return refuse("shapes are for partition " .. table.concat(pavior_partitions, ", "))
    end
    return slurm.SUCCESS
  end
  if has_controls(job.comment) then return refuse(CONTROLS) end
  if others then
    return refuse("a job for partition " .. SHOWN .. " cannot name other partitions as well")
  end
  if not unset(job.het_job_offset) then
    return refuse("heterogeneous jobs cannot be placed in partition " .. SHOWN)
  end
  if not fault and sides and not fits(sides) then
    fault = table.concat(sides, "x") .. " does not fit " .. MACHINE .. ", turned or not"
  end
  if not fault and (job.req_nodes or "") ~= "" then
    fault = "nodes are chosen for you; leave --nodelist and --nodefile out"
  end
  fault = fault or unknowable(job)
  if fault then return refuse(fault) end
  local nodes, licences
  nodes, fault = nodes_of(job, sides)
  if not fault then licences, fault = licences_of(job) end
  if fault then return refuse(fault) end
  job.min_nodes = nodes
  job.max_nodes = nodes
  job.licenses = licences
  return slurm.SUCCESS
end

-- The gate for a change of a job.
local function modify(change, job, uid)
  local mine = own[job.partition or ""]
  for name in string.gmatch((job.partition or "") .. "," .. (change.partition or ""), "[^,]+") do
    mine = mine or own[name]
  end
  if not mine then return slurm.SUCCESS end
  if has_controls(change.comment) then return refuse(CONTROLS) end
  if operators[uid] then return slurm.SUCCESS end
  if change.partition ~= nil or change.comment ~= nil or change.licenses ~= nil
    or change.req_nodes ~= nil or not unset(change.min_nodes) or not unset(change.max_nodes)
    or not unset(change.min_cpus) then
    return refuse(
      "comment, licences, nodes, CPUs and partition cannot be changed; submit the job anew")
  end
  local fault = unknowable(change)
  if fault then return refuse(fault) end
  -- A user may hold a job and release it again; nothing else sets a priority.
  if change.priority ~= nil and change.priority ~= 4294967294 and change.priority ~= 0
    and job.priority ~= 0 then
    return refuse("the job waits for its box, and is started when there is one")
  end
  return slurm.SUCCESS
end

-- Whether a job is a question of pavior slurm check: it is never accepted.
local function is_question(job)
  return string.find(job.comment or "", "pavior-check " .. LICENCE .. "\n", 1, true) ~= nil
end

-- A function of job_submit.lua, and then the gate. An error in a script makes some releases of
-- Slurm accept the job as it is: one that concerns this machine is refused then.
local function both(inner, gate, mine)
  return function(...)
    if inner ~= nil then
      local fine, verdict = pcall(inner, ...)
      if not fine then
        if not mine(...) then error(verdict, 0) end
        slurm.log_error("%s", "pavior: job_submit.lua failed: " .. tostring(verdict))
        return refuse("the site's job_submit.lua failed; please tell its administrators")
      end
      if type(verdict) == "number" and verdict ~= slurm.SUCCESS then return verdict end
    end
    local fine, verdict = pcall(gate, ...)
    if fine then return verdict end
    slurm.log_error("%s", "pavior: " .. tostring(verdict))
    return refuse("the gate failed; please tell the administrators of this machine")
  end
end

local guarded = false
local module = { shape_of = shape_of }

function module.submit(inner)
  local function mine(job, parts) return (concerns(job.partition, parts)) end
  local guard = both(inner, submit, mine)
  return function(job, parts, uid)
    if is_question(job) and mine(job, parts) then
      local changes = guarded and "guarded" or "open"
      return refuse("gate " .. LICENCE .. " " .. CHECKSUM .. ", changes " .. changes)
    end
    return guard(job, parts, uid)
  end
end

function module.modify(inner)
  guarded = true
  local function mine(change, job) return own[job.partition or ""] end
  return both(inner, function(change, job, _, uid) return modify(change, job, uid) end, mine)
end

return module
