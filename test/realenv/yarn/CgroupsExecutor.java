package pacer.yarn;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.exceptions.ConfigurationException;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperation;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.ResourceHandlerChain;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.ResourceHandlerException;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.ResourceHandlerModule;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerReacquisitionContext;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerStartContext;

/**
 * YARN's executor of containers in groups, without its native program, which is nowhere to be had: groups, weights and
 * quotas are those of YARN's own handlers, called when LinuxContainerExecutor calls them, and the container's shell does
 * what the program would do: it writes its id into the group before it runs the container's script. The handlers are
 * YARN's own by the properties of a NodeManager. An update of a container reaches them from YARN's scheduler itself.
 */
public final class CgroupsExecutor extends DefaultContainerExecutor {
    private final Map<String, String> tasks = new ConcurrentHashMap<>();
    private ResourceHandlerChain handlers;

    @Override
    public void init(Context context) throws IOException {
        super.init(context);
        try {
            handlers = ResourceHandlerModule.getConfiguredResourceHandlerChain(getConf(), context);
            if (handlers == null) {
                throw new IOException("no handler of a resource is configured");
            }
            handlers.bootstrap(getConf());
        } catch (ResourceHandlerException e) {
            throw new IOException("handlers of resources", e);
        }
    }

    @Override
    public int launchContainer(ContainerStartContext start) throws IOException, ConfigurationException {
        ContainerId id = start.getContainer().getContainerId();
        try {
            enter(id, handlers.preStart(start.getContainer()));
            return super.launchContainer(start);
        } catch (ResourceHandlerException e) {
            throw new IOException("group of " + id, e);
        } finally {
            complete(id);
        }
    }

    @Override
    public int relaunchContainer(ContainerStartContext start) throws IOException, ConfigurationException {
        return launchContainer(start);
    }

    @Override
    public int reacquireContainer(ContainerReacquisitionContext found) throws IOException, InterruptedException {
        try {
            handlers.reacquireContainer(found.getContainerId());
            return super.reacquireContainer(found);
        } catch (ResourceHandlerException e) {
            throw new IOException("group of " + found.getContainerId(), e);
        } finally {
            complete(found.getContainerId());
        }
    }

    @Override
    protected String[] getRunCommand(String command, String container, String user, Path pidFile, Configuration conf,
            Resource resource) {
        String[] run = super.getRunCommand(command, container, user, pidFile, conf, resource);
        String[] inside = {"bash", "-c", "echo $$ >\"$0\" && exec \"$@\"", tasks.get(container)};
        String[] both = Arrays.copyOf(inside, inside.length + run.length);
        System.arraycopy(run, 0, both, inside.length, run.length);
        return both;
    }

    /** Keeps the file that a handler wants a container's processes to be written into. */
    private void enter(ContainerId id, List<PrivilegedOperation> wanted) {
        for (PrivilegedOperation operation : wanted) {
            for (String argument : operation.getArguments()) {
                if (argument.startsWith(PrivilegedOperation.CGROUP_ARG_PREFIX)) {
                    tasks.put(id.toString(), argument.substring(PrivilegedOperation.CGROUP_ARG_PREFIX.length()));
                }
            }
        }
    }

    private void complete(ContainerId id) {
        tasks.remove(id.toString());
        try {
            handlers.postComplete(id);
        } catch (ResourceHandlerException e) {
            logOutput("group of " + id + " is left: " + e);
        }
    }
}
